#include "backends/openvino/openvino_backend.h"

#include <limits>
#include <thread>

#include "backends/openvino/testing/models.h"
#include "backends/openvino/testing/run_batch.h"
#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_request;
using testing::make_tensor;
using testing::run_batch;
using testing::run_one;
using testing::values_of;

// A model folder with one IR file, and the backend.
class OpenVinoBackendTest : public ::testing::Test {
 protected:
  OpenVinoBackendTest() : backend_(create_openvino_backend({.processors = 2})) {
    config_.name = "m";
    config_.default_model_filename = "model.xml";
  }

  void write(const std::shared_ptr<ov::Model>& model) {
    std::filesystem::create_directories(files_.version_folder);
    testing::write_ir(model, files_.version_folder / "model.xml");
  }
  Status complete(bool max_batch_size_given) {
    return backend_->complete_config(files_, max_batch_size_given, config_);
  }
  // Completes and loads `model`, and makes one instance.
  void serve(const std::shared_ptr<ov::Model>& model, std::int32_t max_batch_size) {
    write(model);
    config_.max_batch_size = max_batch_size;
    const Status completed = complete(true);
    ASSERT_TRUE(completed) << completed.error().message;
    auto loaded = backend_->load(files_, config_);
    ASSERT_TRUE(loaded) << loaded.error().message;
    loaded_ = std::move(*loaded);
    auto instance = loaded_->create_instance({});
    ASSERT_TRUE(instance) << instance.error().message;
    instance_ = std::move(*instance);
  }
  std::string load_error() {
    auto loaded = backend_->load(files_, config_);
    return loaded ? std::string("no error") : loaded.error().message;
  }

  TempFolder folder_;
  core::ModelFiles files_{folder_.path(), folder_.path() / "1", 1};
  config::ModelConfig config_;
  std::unique_ptr<core::Backend> backend_;
  std::unique_ptr<core::LoadedModel> loaded_;
  std::unique_ptr<core::Instance> instance_;
};

Tensor floats(Shape shape, const std::vector<float>& values) {
  return make_tensor(DataType::kFp32, std::move(shape), values);
}

TEST_F(OpenVinoBackendTest, AnswersABatchOfOneRequestFromItsOwnBytes) {
  serve(testing::affine_model({-1, 2}), 4);
  const core::Response response = run_one(*instance_, 2, {floats({2, 2}, {1, 2, 3, 4})});
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_EQ(response.outputs[0].shape, (Shape{2, 2}));
  EXPECT_THAT(values_of<float>(response.outputs[0]), ElementsAre(3, 5, 7, 9));
}

TEST_F(OpenVinoBackendTest, GathersRequestsAndKeepsTheirOrder) {
  serve(testing::affine_model({-1, 2}), 4);
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(make_request(1, {floats({1, 2}, {1, 2})}));
  requests.push_back(make_request(2, {floats({2, 2}, {3, 4, 5, 6})}));
  const auto responses = run_batch(*instance_, std::move(requests));
  ASSERT_EQ(responses.size(), 2U);
  EXPECT_THAT(values_of<float>(responses[0].outputs[0]), ElementsAre(3, 5));
  EXPECT_THAT(values_of<float>(responses[1].outputs[0]), ElementsAre(7, 9, 11, 13));
}

TEST_F(OpenVinoBackendTest, OutputsOfEarlierBatchesStayWhenTheNextRuns) {
  serve(testing::affine_model({-1, 1}), 4);
  const core::Response first = run_one(*instance_, 1, {floats({1, 1}, {1})});
  const core::Response second = run_one(*instance_, 1, {floats({1, 1}, {10})});
  EXPECT_THAT(values_of<float>(first.outputs[0]), ElementsAre(3));
  EXPECT_THAT(values_of<float>(second.outputs[0]), ElementsAre(21));
}

TEST_F(OpenVinoBackendTest, SetsTheMomentsOfABatch) {
  serve(testing::affine_model({-1, 1}), 4);
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(make_request(1, {floats({1, 1}, {1})}));
  std::unique_ptr<core::Batch> done;
  instance_->start(std::make_unique<core::Batch>(std::move(requests)),
                   [&](std::unique_ptr<core::Batch> batch) { done = std::move(batch); });
  EXPECT_NE(done->inputs_ready, kNever);
  EXPECT_GE(done->computed, done->inputs_ready);
}

// OpenVINO itself leaves such an output untouched.
TEST_F(OpenVinoBackendTest, ReturnsAnInputThatIsAnOutput) {
  serve(testing::sum_and_copy_model({-1, 2}), 4);
  const int kept = config_.find_output("kept");
  const int sum = config_.find_output("sum");
  ASSERT_GE(kept, 0);
  core::Response one = run_one(*instance_, 1, {floats({1, 2}, {1, 2}), floats({1, 2}, {10, 20})});
  EXPECT_THAT(values_of<float>(one.outputs[kept]), ElementsAre(1, 2));
  EXPECT_THAT(values_of<float>(one.outputs[sum]), ElementsAre(11, 22));

  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(make_request(1, {floats({1, 2}, {1, 2}), floats({1, 2}, {0, 0})}));
  requests.push_back(make_request(1, {floats({1, 2}, {3, 4}), floats({1, 2}, {0, 0})}));
  const auto two = run_batch(*instance_, std::move(requests));
  EXPECT_THAT(values_of<float>(two[0].outputs[kept]), ElementsAre(1, 2));
  EXPECT_THAT(values_of<float>(two[1].outputs[kept]), ElementsAre(3, 4));
}

TEST_F(OpenVinoBackendTest, TakesOutputsWhoseShapeIsKnownAfterwards) {
  serve(testing::non_zero_model({-1}), 0);
  EXPECT_EQ(config_.outputs[0].dims, (Shape{1, -1}));
  const core::Response two = run_one(*instance_, 1, {floats({4}, {0, 7, 0, 7})});
  ASSERT_FALSE(two.error) << two.error->message;
  EXPECT_EQ(two.outputs[0].shape, (Shape{1, 2}));
  EXPECT_THAT(values_of<std::int64_t>(two.outputs[0]), ElementsAre(1, 3));
  const core::Response none = run_one(*instance_, 1, {floats({2}, {0, 0})});
  ASSERT_FALSE(none.error) << none.error->message;
  EXPECT_EQ(none.outputs[0].shape, (Shape{1, 0}));
  EXPECT_THAT(values_of<std::int64_t>(two.outputs[0]), ElementsAre(1, 3));
}

TEST_F(OpenVinoBackendTest, TakesZeroExtents) {
  serve(testing::affine_model({-1, -1}), 4);
  const core::Response response = run_one(*instance_, 1, {floats({1, 0}, {})});
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_EQ(response.outputs[0].shape, (Shape{1, 0}));
}

// Between clients and the model's side it is core that reshapes.
TEST_F(OpenVinoBackendTest, TakesAndGivesTheModelsSideOfAReshape) {
  config_.inputs.push_back(
      {.name = "x", .type = DataType::kFp32, .dims = {6}, .reshape = Shape{2, 3}});
  config_.outputs.push_back(
      {.name = "y", .type = DataType::kFp32, .dims = {3, 2}, .reshape = Shape{2, 3}});
  serve(testing::affine_model({-1, 2, 3}), 4);
  const core::Response response = run_one(*instance_, 1, {floats({1, 2, 3}, {0, 1, 2, 3, 4, 5})});
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_EQ(response.outputs[0].shape, (Shape{1, 2, 3}));
  EXPECT_THAT(values_of<float>(response.outputs[0]), ElementsAre(1, 3, 5, 7, 9, 11));
}

TEST_F(OpenVinoBackendTest, OpensTheBatchDimensionOfAFixedModel) {
  serve(testing::affine_model({1, 2}), 4);
  const core::Response response = run_one(*instance_, 3, {floats({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_EQ(response.outputs[0].shape, (Shape{3, 2}));
}

TEST_F(OpenVinoBackendTest, RefusesToBatchAModelThatDoesNotFollow) {
  write(testing::hard_reshape_model({1, 2, 3}, {1, -1}));
  config_.max_batch_size = 4;
  ASSERT_TRUE(complete(true));
  EXPECT_THAT(load_error(), AllOf(HasSubstr("model.xml"), HasSubstr("max_batch_size is 4"),
                                  HasSubstr("dynamic batch dimension")));
}

TEST_F(OpenVinoBackendTest, ServesAFixedModelWithoutBatching) {
  write(testing::affine_model({1, 2}));
  ASSERT_TRUE(complete(false));
  EXPECT_EQ(config_.max_batch_size, 0);
  serve(testing::affine_model({1, 2}), 0);
  const core::Response response = run_one(*instance_, 1, {floats({1, 2}, {1, 2})});
  EXPECT_THAT(values_of<float>(response.outputs[0]), ElementsAre(3, 5));
}

TEST_F(OpenVinoBackendTest, RefusesARequestThatTheModelCannotTake) {
  config_.inputs.push_back({.name = "x", .type = DataType::kFp32, .dims = {-1}});
  config_.outputs.push_back({.name = "y", .type = DataType::kFp32, .dims = {-1}});
  serve(testing::affine_model({-1, 2}), 4);
  const core::Response response = run_one(*instance_, 1, {floats({1, 3}, {1, 2, 3})});
  ASSERT_TRUE(response.error);
  EXPECT_EQ(response.error->code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(response.error->message, AllOf(HasSubstr("[-1,2]"), HasSubstr("[1,3]")));
  // And goes on.
  EXPECT_FALSE(run_one(*instance_, 1, {floats({1, 2}, {1, 2})}).error);
}

// An inference that fails half-way must not spoil the next one.
TEST_F(OpenVinoBackendTest, GoesOnAfterAnInferenceThatFails) {
  serve(testing::hard_reshape_model({-1, -1}, {-1, 4}), 0);
  for (int round = 0; round < 5; ++round) {
    const core::Response bad = run_one(*instance_, 1, {floats({1, 5}, {1, 2, 3, 4, 5})});
    ASSERT_TRUE(bad.error);
    EXPECT_THAT(bad.error->message, HasSubstr("inference failed"));
    const std::vector<float> values(static_cast<std::size_t>(8 * (round + 1)), 1);
    const core::Response good = run_one(*instance_, 1, {floats({round + 1, 8}, values)});
    ASSERT_FALSE(good.error) << good.error->message;
    EXPECT_EQ(good.outputs[0].shape, (Shape{2 * (round + 1), 4}));
  }
}

// OpenVINO itself would answer -1294967295 without an error.
TEST_F(OpenVinoBackendTest, RefusesNumbersThatDoNotFitAndNobodyElses) {
  config_.inputs.push_back(
      {.name = "x", .type = DataType::kInt64, .dims = {1}, .reshape = Shape{}});
  config_.outputs.push_back(
      {.name = "y", .type = DataType::kInt64, .dims = {1}, .reshape = Shape{}});
  serve(testing::add_constant_model(ov::element::i64, 1), 4);
  const auto number = [](std::int64_t value) {
    return make_tensor<std::int64_t>(DataType::kInt64, {1}, {value});
  };
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(make_request(1, {number(3000000000)}));
  requests.push_back(make_request(1, {number(41)}));
  const auto responses = run_batch(*instance_, std::move(requests));
  ASSERT_TRUE(responses[0].error);
  EXPECT_EQ(responses[0].error->code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(responses[0].error->message, AllOf(HasSubstr("model 'm', input 'x'"),
                                                 HasSubstr("3000000000"), HasSubstr("INT32")));
  ASSERT_FALSE(responses[1].error) << responses[1].error->message;
  EXPECT_THAT(values_of<std::int64_t>(responses[1].outputs[0]), ElementsAre(42));
  EXPECT_TRUE(run_one(*instance_, 1, {number(-3000000000)}).error);
}

TEST_F(OpenVinoBackendTest, TakesLargeIntegersThatOnlyBecomeFloats) {
  serve(testing::to_float_model(ov::element::i64), 0);
  const core::Response response =
      run_one(*instance_, 1, {make_tensor<std::int64_t>(DataType::kInt64, {1}, {3000000000})});
  ASSERT_FALSE(response.error) << response.error->message;
  EXPECT_THAT(values_of<float>(response.outputs[0]), ElementsAre(3e9F));
}

// A configuration of this size must neither end the process nor fill its memory.
TEST_F(OpenVinoBackendTest, LoadsWithTheLargestBatchSize) {
  serve(testing::affine_model({-1, 2}), std::numeric_limits<std::int32_t>::max());
  EXPECT_FALSE(run_one(*instance_, 1, {floats({1, 2}, {1, 2})}).error);
}

TEST_F(OpenVinoBackendTest, KeepsStringsOut) {
  write(testing::string_model());
  const Status status = complete(false);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnimplemented);
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("model.xml"), HasSubstr("string")));
}

TEST_F(OpenVinoBackendTest, RunsNoMoreInstancesThanProcessors) {
  config_.instance_groups.push_back({.count = 5});
  serve(testing::affine_model({-1, 2}), 4);
  EXPECT_EQ(loaded_->useful_instances(5), 2);
  EXPECT_EQ(loaded_->useful_instances(1), 1);
  const auto gpu = loaded_->create_instance({.kind = config::InstanceGroup::Kind::kGpu});
  ASSERT_FALSE(gpu);
  EXPECT_THAT(gpu.error().message, HasSubstr("KIND_CPU"));
}

TEST_F(OpenVinoBackendTest, InstancesRunSideBySide) {
  config_.instance_groups.push_back({.count = 2});
  serve(testing::affine_model({-1, 2}), 4);
  auto other = loaded_->create_instance({});
  ASSERT_TRUE(other);
  const auto work = [](core::Instance& instance, float value) {
    for (int i = 0; i < 200; ++i) {
      const auto response = run_one(instance, 1, {floats({1, 2}, {value, value})});
      ASSERT_FALSE(response.error);
      ASSERT_THAT(values_of<float>(response.outputs[0]), ElementsAre(2 * value + 1, 2 * value + 1));
    }
  };
  std::thread second([&] { work(**other, 5); });
  work(*instance_, 7);
  second.join();
}

TEST_F(OpenVinoBackendTest, ReadsAFileAgainWhenItHasChanged) {
  write(testing::affine_model({-1, 2}));
  ASSERT_TRUE(complete(false));
  write(testing::affine_model({-1, 333}));
  EXPECT_THAT(load_error(), HasSubstr("[-1,333]"));
}

}  // namespace
}  // namespace proa::backends::openvino
