#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/import.h"
#include "backends/cuda/testing/backend_fixture.h"
#include "backends/cuda/testing/export.h"
#include "engine/graph/text.h"
#include "engine/testing/compare.h"
#include "openvino/op/ops.hpp"

namespace proa::backends::cuda {
namespace {

using config::InstanceGroup;
using openvino::testing::affine_model;
using openvino::testing::make_request;
using openvino::testing::make_tensor;
using openvino::testing::values_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(CudaBackendTest, AnswersAPaddedBatchOfSeveralRequestsInOrder) {
  serve(4);
  EXPECT_EQ(loaded_->execution(), core::Execution::kAsync);
  const auto one = instance();
  EXPECT_EQ(one->max_in_flight(), 2);
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(make_request(1, {floats({1, 2}, {1, 2})}));
  requests.push_back(make_request(2, {floats({2, 2}, {3, 4, 5, 6})}));
  Pending pending;
  start(*one, pending, std::move(requests));
  const auto responses = pending.wait();
  ASSERT_EQ(responses.size(), 2u);
  ASSERT_FALSE(responses[0].error) << responses[0].error->message;
  EXPECT_THAT(values_of<float>(responses[0].outputs[0]), ElementsAre(3, 5));
  EXPECT_EQ(responses[1].outputs[0].shape, (Shape{2, 2}));
  EXPECT_THAT(values_of<float>(responses[1].outputs[0]), ElementsAre(7, 9, 11, 13));
}

TEST_F(CudaBackendTest, ModelsThatDoNotBatchKeepTheirShape) {
  write(affine_model({3, 2}));
  const Status status = load();
  ASSERT_TRUE(status) << status.error().message;
  const auto one = instance();
  Pending pending;
  start_one(*one, pending, 1, floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto responses = pending.wait();
  ASSERT_FALSE(responses[0].error) << responses[0].error->message;
  EXPECT_THAT(values_of<float>(responses[0].outputs[0]), ElementsAre(3, 5, 7, 9, 11, 13));
}

TEST_F(CudaBackendTest, TwoBatchesAreUnderWayAtOnceAndDoNotMix) {
  serve(2);
  const auto one = instance();
  engine_.hold();
  Pending first, second;
  start_one(*one, first, 1, floats({1, 2}, {1, 2}));
  start_one(*one, second, 1, floats({1, 2}, {3, 4}));
  engine_.wait_for_starts(2);
  engine_.release();
  EXPECT_THAT(values_of<float>(first.wait()[0].outputs[0]), ElementsAre(3, 5));
  EXPECT_THAT(values_of<float>(second.wait()[0].outputs[0]), ElementsAre(7, 9));
}

TEST_F(CudaBackendTest, PageLockedInputIsReadWhereItLies) {
  serve(2);
  const auto one = instance();
  const std::vector<float> numbers = {5, 6};
  auto memory = engine_.allocate_pinned(0, 8);
  ASSERT_TRUE(memory);
  std::memcpy(memory->data(), numbers.data(), 8);
  Pending pending;
  start_one(*one, pending, 1, Tensor{DataType::kFp32, {1, 2}, BufferView(*memory)});
  EXPECT_THAT(values_of<float>(pending.wait()[0].outputs[0]), ElementsAre(11, 13));
}

TEST_F(CudaBackendTest, LoadsOnceForEachDeviceOfTheGroups) {
  config_.instance_groups = {{.kind = InstanceGroup::Kind::kGpu, .count = 2}};
  config_.parameters["gpu_buckets"] = "2";
  serve(8);
  EXPECT_THAT(config_.instance_groups[0].gpus, ElementsAre(0, 1));
  ASSERT_EQ(engine_.loads.size(), 2u);
  EXPECT_EQ(engine_.loads[1].device, 1);
  EXPECT_THAT(engine_.loads[0].buckets, ElementsAre(2, 8));
  EXPECT_NE(instance(1), nullptr);
  EXPECT_FALSE(loaded_->create_instance({.name = "m_0", .device = 7}));
}

TEST_F(CudaBackendTest, WithoutAGpuTheErrorNamesTheWaysOut) {
  write(affine_model({-1, 2}));
  open_error_ = error::unavailable("the GPU engine needs cuDNN 9");
  EXPECT_THAT(load_error(),
              AllOf(HasSubstr("cuDNN 9"), HasSubstr("KIND_CPU"), HasSubstr("--gpu-models-on-cpu")));
  open_error_ = {};
  engine_.count_error = error::unavailable("no driver");
  EXPECT_THAT(load_error(), AllOf(HasSubstr("no driver"), HasSubstr("KIND_CPU")));
}

TEST_F(CudaBackendTest, CpuGroupsAreRefused) {
  write(affine_model({-1, 2}));
  config_.instance_groups = {{.name = "g", .kind = InstanceGroup::Kind::kCpu}};
  EXPECT_THAT(load_error(), AllOf(HasSubstr("'g'"), HasSubstr("KIND_CPU")));
}

TEST_F(CudaBackendTest, RowsThatDependOnEachOtherDoNotBatch) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 2});
  auto axes = ov::op::v0::Constant::create(ov::element::i64, {1}, {0});
  auto mean = std::make_shared<ov::op::v1::ReduceMean>(x, axes, true);
  auto model = std::make_shared<ov::Model>(
      ov::OutputVector{std::make_shared<ov::op::v1::Subtract>(x, mean)}, ov::ParameterVector{x});
  x->get_output_tensor(0).set_names({"x"});
  model->output(0).get_tensor().set_names({"y"});
  write(model);
  config_.max_batch_size = 4;
  EXPECT_THAT(load_error(), AllOf(HasSubstr("max_batch_size is 4"), HasSubstr("side by side")));
}

TEST_F(CudaBackendTest, AReshapeOverTheBatchIsSeenThroughOneRow) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 16});
  const auto reshape = [](const ov::Output<ov::Node>& of, std::vector<std::int64_t> to) {
    auto shape = ov::op::v0::Constant::create(ov::element::i64, {2}, to);
    return std::make_shared<ov::op::v1::Reshape>(of, shape, false);
  };
  auto all = std::make_shared<ov::op::v8::Softmax>(reshape(x, {1, -1}), 1);
  auto model =
      std::make_shared<ov::Model>(ov::OutputVector{reshape(all, {-1, 16})}, ov::ParameterVector{x});
  x->get_output_tensor(0).set_names({"x"});
  model->output(0).get_tensor().set_names({"y"});
  write(model);
  config_.max_batch_size = 8;
  EXPECT_THAT(load_error(), AllOf(HasSubstr("side by side"), HasSubstr("reshapes the batch away")));
}

TEST_F(CudaBackendTest, IntegersThatAreHandedOnKeepAllTheirDigits) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 2});
  auto id = std::make_shared<ov::op::v0::Parameter>(ov::element::i64, ov::PartialShape{-1, 4});
  auto known =
      std::make_shared<ov::op::v0::Parameter>(ov::element::boolean, ov::PartialShape{-1, 1});
  auto shape =
      ov::op::v0::Constant::create(ov::element::i64, {3}, std::vector<std::int64_t>{-1, 2, 2});
  auto square = std::make_shared<ov::op::v1::Reshape>(id, shape, false);
  auto model = std::make_shared<ov::Model>(
      ov::OutputVector{std::make_shared<ov::op::v0::Relu>(x), id, square, known},
      ov::ParameterVector{x, id, known});
  x->get_output_tensor(0).set_names({"x"});
  id->get_output_tensor(0).set_names({"id"});
  known->get_output_tensor(0).set_names({"known"});
  write(model);
  config_.max_batch_size = 2;
  ASSERT_EQ(load_error(), "no error");
  const std::vector<std::int64_t> ids = {1796139846133, -9007199254740993, 16777217, 0};
  Pending pending;
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(
      make_request(1, {floats({1, 2}, {1, -1}), make_tensor(DataType::kInt64, Shape{1, 4}, ids),
                       make_tensor(DataType::kBool, Shape{1, 1}, std::vector<std::uint8_t>{1})}));
  const auto one = instance();
  start(*one, pending, std::move(requests));
  const auto responses = pending.wait();
  ASSERT_FALSE(responses[0].error) << responses[0].error->message;
  const auto numbers = [&](std::size_t i) {
    return values_of<std::int64_t>(responses[0].outputs[i]);
  };
  EXPECT_EQ(numbers(1), ids);
  EXPECT_EQ(numbers(2), ids);
  EXPECT_THAT(values_of<std::uint8_t>(responses[0].outputs[3]), ElementsAre(1));
}

TEST_F(CudaBackendTest, MemoryThatRunsOutFailsTheLoadOnly) {
  write(affine_model({-1, 2}));
  config_.max_batch_size = 2;
  engine_.load_error = error::resource_exhausted("a constant of the model needs 5 MiB");
  EXPECT_THAT(load_error(), AllOf(HasSubstr("GPU 0"), HasSubstr("needs 5 MiB")));
  engine_.load_error = {};
  ASSERT_TRUE(load());
  engine_.stream_error = error::resource_exhausted("the activations need 7 MiB");
  auto made = loaded_->create_instance({.name = "m_0"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, AllOf(HasSubstr("m_0"), HasSubstr("7 MiB")));
  EXPECT_TRUE(loaded_->health());
  engine_.stream_error = {};
  engine_.pinned_left = 4;
  EXPECT_FALSE(loaded_->create_instance({.name = "m_0"}));
  EXPECT_TRUE(loaded_->health());
}

TEST_F(CudaBackendTest, LoadsBeyondTheMemoryLimitFail) {
  write(affine_model({-1, 2}));
  config_.max_batch_size = 2;
  engine_.memory_use = {.used = 600, .total = 1000};
  make_backend({{1, 0.5}});
  EXPECT_THAT(load_error(), AllOf(HasSubstr("GPU 1"), HasSubstr("--model-load-gpu-limit 1:0.5")));
  make_backend({{1, 0.7}});
  EXPECT_EQ(load_error(), "no error");
  engine_.memory_use.used = 800;
  EXPECT_FALSE(loaded_->create_instance({.name = "m_0", .device = 1}));
  EXPECT_TRUE(loaded_->create_instance({.name = "m_0", .device = 0}));
}

TEST_F(CudaBackendTest, ADeviceThatFailsUnderTheFirstKernelsIsOutOfUse) {
  write(affine_model({-1, 2}));
  config_.max_batch_size = 2;
  ASSERT_TRUE(load());
  engine_.stream_error = error::unavailable("an illegal memory access");
  EXPECT_FALSE(loaded_->create_instance({.name = "m_0"}));
  ASSERT_FALSE(loaded_->health());
  EXPECT_THAT(loaded_->health().error().message, HasSubstr("illegal memory access"));
}

TEST_F(CudaBackendTest, ADeviceThatFailsIsOutOfUse) {
  config_.instance_groups = {{.kind = InstanceGroup::Kind::kGpu, .gpus = {0, 1}}};
  serve(2);
  const auto bad = instance(0), good = instance(1);
  engine_.break_device(0, error::unavailable("an illegal memory access"));
  Pending first, again, other;
  start_one(*bad, first, 1, floats({1, 2}, {1, 2}));
  EXPECT_THAT(first.wait()[0].error->message, HasSubstr("illegal memory access"));
  EXPECT_FALSE(bad->usable());
  EXPECT_TRUE(good->usable());
  ASSERT_FALSE(loaded_->health());
  EXPECT_THAT(loaded_->health().error().message, HasSubstr("GPU 0"));
  // It answers at once now, without asking the device; the other one goes on.
  start_one(*bad, again, 1, floats({1, 2}, {1, 2}));
  EXPECT_THAT(again.wait()[0].error->message, HasSubstr("out of use"));
  start_one(*good, other, 1, floats({1, 2}, {1, 2}));
  EXPECT_FALSE(other.wait()[0].error);
}

TEST_F(CudaBackendTest, UnsupportedOperatorsAreNamed) {
  write(openvino::testing::non_zero_model({2, 2}));
  EXPECT_THAT(load_error(), AllOf(HasSubstr("NonZero"), HasSubstr("KIND_CPU")));
}

// A residual network with an operator in its middle that the engine does not know.
std::shared_ptr<ov::Model> planted_model() {
  auto model = read_model(PROA_MODELS_DIR "/resnet_odd.onnx");
  EXPECT_TRUE(model) << model.error().message;
  std::vector<std::shared_ptr<ov::Node>> relus;
  for (const auto& node : (*model)->get_ordered_ops()) {
    if (ov::is_type<ov::op::v0::Relu>(node)) relus.push_back(node);
  }
  const auto middle = relus.at(relus.size() / 2);
  const auto readers = middle->output(0).get_target_inputs();
  const auto planted = std::make_shared<ov::op::v0::Erf>(middle);
  for (auto reader : readers) reader.replace_source_output(planted->output(0));
  return *model;
}

TEST_F(CudaBackendTest, APlantedOperatorRunsOnTheCpuAndAnswersAreRight) {
  const auto model = planted_model();
  write(model);
  config_.max_batch_size = 4;
  config_.parameters["gpu_buckets"] = "4";
  config_.parameters["gpu_placement"] = "all";
  const Status status = load();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(engine_.loads.size(), 4u);  // two parts on each of two devices
  const std::vector<float> picture = engine::random_numbers(3, 3 * 3 * 77 * 77, -1, 1);
  const engine::HostTensor rows{{3, 3, 77, 77}, picture};
  const std::vector<float> wanted = run_openvino(model, {rows}).front().data;
  const auto one = instance();
  // Twice at once, so that both slots are used.
  Pending first, second;
  start_one(*one, first, 3, floats({3, 3, 77, 77}, picture));
  start_one(*one, second, 3, floats({3, 3, 77, 77}, picture));
  for (Pending* pending : {&first, &second}) {
    const auto responses = pending->wait();
    ASSERT_FALSE(responses[0].error) << responses[0].error->message;
    const std::vector<float> got = values_of<float>(responses[0].outputs[0]);
    ASSERT_EQ(got.size(), wanted.size());
    EXPECT_LT(engine::relative_l2(got, wanted), 1e-4);
  }
}

// y = 3 erf(relu(x)), turned from [2,6] to [4,3] on the way: parts whose first extents differ.
TEST_F(CudaBackendTest, PartsOfAModelThatDoesNotBatchHaveExtentsOfTheirOwn) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{2, 6});
  auto erf = std::make_shared<ov::op::v0::Erf>(std::make_shared<ov::op::v0::Relu>(x));
  auto turned = std::make_shared<ov::op::v1::Reshape>(
      erf, ov::op::v0::Constant::create(ov::element::i64, {2}, {4, 3}), false);
  auto tripled = std::make_shared<ov::op::v1::Multiply>(
      turned, ov::op::v0::Constant::create(ov::element::f32, {1}, {3.0f}));
  auto model = std::make_shared<ov::Model>(
      ov::OutputVector{std::make_shared<ov::op::v0::Abs>(tripled)}, ov::ParameterVector{x});
  x->get_output_tensor(0).set_names({"x"});
  model->output(0).get_tensor().set_names({"y"});
  write(model);
  config_.parameters["gpu_placement"] = "all";
  config_.parameters["min_cluster_ops"] = "1";
  config_.parameters["cpu_operators"] = "Reshape";
  const Status status = load();
  ASSERT_TRUE(status) << status.error().message;
  ASSERT_EQ(engine_.loads.size(), 4u);  // two parts on each of two devices
  EXPECT_THAT(engine_.loads[0].buckets, ElementsAre(2));
  EXPECT_THAT(engine_.loads[1].buckets, ElementsAre(4));
  const std::vector<float> numbers = engine::random_numbers(3, 12, -1, 1);
  const auto one = instance();
  Pending pending;
  start_one(*one, pending, 1, floats({2, 6}, numbers));
  const auto responses = pending.wait();
  ASSERT_FALSE(responses[0].error) << responses[0].error->message;
  EXPECT_EQ(responses[0].outputs[0].shape, (Shape{4, 3}));
  const auto wanted = run_openvino(model, {{{2, 6}, numbers}}).front().data;
  EXPECT_LT(engine::relative_l2(values_of<float>(responses[0].outputs[0]), wanted), 1e-5);
}

TEST_F(CudaBackendTest, RequireGpuMakesAFallbackAnError) {
  write(planted_model());
  config_.max_batch_size = 4;
  config_.parameters["require_gpu"] = "true";
  EXPECT_THAT(load_error(), AllOf(HasSubstr("require_gpu"), HasSubstr("Erf")));
}

}  // namespace
}  // namespace proa::backends::cuda
