// Models with open extents: plans for the shapes that come.
#include <latch>

#include "backends/cuda/import.h"
#include "backends/cuda/testing/backend_fixture.h"
#include "engine/testing/compare.h"

namespace proa::backends::cuda {
namespace {

using openvino::testing::affine_model;
using openvino::testing::make_request;
using openvino::testing::make_tensor;
using openvino::testing::values_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = 2 x + 1 over pictures of any size.
class OpenShapeTest : public CudaBackendTest {
 protected:
  void serve_open(std::map<std::string, std::string> parameters = {}) {
    write(affine_model({-1, -1, 2}));
    config_.max_batch_size = 2;
    config_.parameters = std::move(parameters);
    const Status status = load();
    ASSERT_TRUE(status) << status.error().message;
  }
  // One row of `extent` x 2 numbers; whether the answer is right and of that shape.
  static bool answers(core::Instance& instance, std::int64_t extent) {
    std::vector<float> numbers(static_cast<std::size_t>(extent * 2)), wanted;
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    for (const float number : numbers) wanted.push_back(2 * number + 1);
    Pending pending;
    start_one(instance, pending, 1, floats({1, extent, 2}, numbers));
    const auto responses = pending.wait();
    return !responses[0].error && responses[0].outputs[0].shape == Shape{1, extent, 2} &&
           values_of<float>(responses[0].outputs[0]) == wanted;
  }
};

TEST_F(OpenShapeTest, PlansAreMadeForTheShapesThatCome) {
  serve_open();
  const auto one = instance();
  EXPECT_TRUE(engine_.loads.empty());
  EXPECT_TRUE(answers(*one, 3));
  EXPECT_TRUE(answers(*one, 5));
  EXPECT_TRUE(answers(*one, 3));
  EXPECT_EQ(engine_.loads.size(), 2u);
  EXPECT_FALSE(engine_.loads[0].time_candidates);
}

TEST_F(OpenShapeTest, InstancesShareThePlansOfAShape) {
  serve_open();
  const auto first = instance(), second = instance();
  EXPECT_TRUE(answers(*first, 3));
  EXPECT_TRUE(answers(*second, 3));
  EXPECT_EQ(engine_.loads.size(), 1u);
}

TEST_F(OpenShapeTest, TheShapeThatWasNotUsedForLongestGoes) {
  serve_open({{"gpu_shapes", "2"}, {"gpu_tuning", "measured"}});
  const auto one = instance();
  for (const std::int64_t extent : {1, 2, 1, 3, 1, 2}) EXPECT_TRUE(answers(*one, extent));
  EXPECT_EQ(engine_.loads.size(), 4u);  // 1, 2, 3 and 2 again
  EXPECT_TRUE(engine_.loads[0].time_candidates);
}

TEST_F(OpenShapeTest, AGpuThatFailedStopsNoShapesOfOthers) {
  serve_open();
  const auto one = instance(0), other = instance(1);
  EXPECT_TRUE(answers(*other, 3));
  engine_.break_device(1, error::unavailable("uncorrectable memory error"));
  EXPECT_FALSE(answers(*other, 3));
  EXPECT_FALSE(answers(*other, 4));
  EXPECT_TRUE(answers(*one, 4));
  EXPECT_EQ(engine_.loads.back().device, 0);
}

TEST_F(OpenShapeTest, KnownShapesGoOnWhileOneIsBuilt) {
  serve_open();
  const auto one = instance();
  EXPECT_TRUE(answers(*one, 3));
  std::latch building(1), go_on(1);
  engine_.on_load = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    building.count_down();
    go_on.wait();
  };
  Pending fresh;
  start_one(*one, fresh, 1, floats({1, 1, 2}, {1, 2}));
  building.wait();
  EXPECT_TRUE(answers(*one, 3));
  go_on.count_down();
  EXPECT_THAT(values_of<float>(fresh.wait()[0].outputs[0]), ElementsAre(3, 5));
}

TEST_F(OpenShapeTest, AShapeThatDoesNotFitMemoryTakesThePlaceOfIdleOnes) {
  serve_open();
  const auto one = instance();
  EXPECT_TRUE(answers(*one, 3));
  int left = 1;
  engine_.on_load = [&] {
    engine_.load_error = left-- > 0 ? Status(error::resource_exhausted("no room")) : Status();
  };
  EXPECT_TRUE(answers(*one, 4));
  engine_.on_load = [&] { engine_.load_error = error::resource_exhausted("no room"); };
  Pending pending;
  start_one(*one, pending, 1, floats({1, 1, 2}, {1, 2}));
  EXPECT_THAT(pending.wait()[0].error->message, AllOf(HasSubstr("[1,2]"), HasSubstr("no room")));
  EXPECT_TRUE(loaded_->health());
}

TEST_F(OpenShapeTest, AShapeThatNeverFitsCostsOthersTheirPlansOnce) {
  serve_open();
  const auto one = instance();
  engine_.on_load = [&] { engine_.load_error = error::resource_exhausted("no room"); };
  EXPECT_FALSE(answers(*one, 9));
  engine_.on_load = [&] { engine_.load_error = {}; };
  EXPECT_TRUE(answers(*one, 3));
  engine_.on_load = [&] { engine_.load_error = error::resource_exhausted("no room"); };
  EXPECT_FALSE(answers(*one, 9));
  EXPECT_TRUE(answers(*one, 3));  // would need a load
  engine_.on_load = [&] { engine_.load_error = {}; };
  EXPECT_TRUE(answers(*one, 9));  // there is room now
}

// What OpenVINO alone says to the same INT64 inputs.
std::vector<float> embedding_of(const std::shared_ptr<ov::Model>& model, const ov::Shape& shape,
                                const std::vector<std::int64_t>& ids,
                                const std::vector<std::int64_t>& mask) {
  ov::Core core;
  ov::InferRequest request =
      core.compile_model(model, "CPU", ov::hint::inference_precision(ov::element::f32))
          .create_infer_request();
  for (const auto& [port, numbers] : {std::pair(0, &ids), std::pair(1, &mask)}) {
    ov::Tensor tensor(ov::element::i64, shape);
    std::ranges::copy(*numbers, tensor.data<std::int64_t>());
    request.set_input_tensor(port, tensor);
  }
  request.infer();
  const ov::Tensor output = request.get_output_tensor();
  return {output.data<float>(), output.data<float>() + output.get_size()};
}

TEST_F(OpenShapeTest, AnEncoderRunsInPartsWhateverTheLength) {
  const auto model = read_model(PROA_MODELS_DIR "/bert_small.onnx");
  ASSERT_TRUE(model) << model.error().message;
  write(*model);
  config_.max_batch_size = 4;
  config_.parameters["gpu_placement"] = "all";
  const Status status = load();
  ASSERT_TRUE(status) << status.error().message;
  const auto one = instance();
  for (const std::int64_t length : {7, 12, 7}) {
    std::vector<std::int64_t> ids, mask;
    for (std::int64_t i = 0; i < 2 * length; ++i) {
      ids.push_back(i * 37 % 100);
      mask.push_back(i < 2 * length - 3 ? 1 : 0);
    }
    std::vector<std::unique_ptr<core::Request>> requests;
    requests.push_back(make_request(2, {make_tensor(DataType::kInt64, {2, length}, ids),
                                        make_tensor(DataType::kInt64, {2, length}, mask)}));
    Pending pending;
    start(*one, pending, std::move(requests));
    const auto responses = pending.wait();
    ASSERT_FALSE(responses[0].error) << responses[0].error->message;
    const auto wanted = embedding_of(*model, {2, static_cast<std::size_t>(length)}, ids, mask);
    EXPECT_LT(engine::relative_l2(values_of<float>(responses[0].outputs[0]), wanted), 1e-4);
  }
}

TEST_F(OpenShapeTest, AnOpenFirstExtentWithoutBatchesIsAShapeToo) {
  write(affine_model({-1, 2}));
  config_.max_batch_size = 0;
  const Status status = load();
  ASSERT_TRUE(status) << status.error().message;
  const auto one = instance();
  Pending pending;
  start_one(*one, pending, 1, floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto responses = pending.wait();
  ASSERT_FALSE(responses[0].error) << responses[0].error->message;
  EXPECT_EQ(responses[0].outputs[0].shape, (Shape{3, 2}));
  EXPECT_THAT(values_of<float>(responses[0].outputs[0]), ElementsAre(3, 5, 7, 9, 11, 13));
}

}  // namespace
}  // namespace proa::backends::cuda
