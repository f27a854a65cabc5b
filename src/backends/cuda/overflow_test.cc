#include "backends/cuda/overflow.h"

#include <cmath>
#include <fstream>

#include "backends/cuda/import.h"
#include "backends/cuda/testing/export.h"
#include "base/testing/temp_folder.h"
#include "engine/graph/text.h"
#include "engine/host/reference.h"
#include "engine/passes/pass.h"
#include "engine/testing/compare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openvino/op/ops.hpp"

namespace proa::backends::cuda {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::shared_ptr<ov::Node> times(const ov::Output<ov::Node>& x, float factor) {
  return std::make_shared<ov::op::v1::Multiply>(
      x, ov::op::v0::Constant::create(ov::element::f32, {1}, {factor}));
}

// y = sqrt(max(|x| * 1e4 * 1e4)) / 100: the middle does not fit FP16, the ends do.
std::shared_ptr<ov::Model> model_that_overflows() {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 64});
  auto magnitude = std::make_shared<ov::op::v0::Abs>(x);
  auto large = times(std::make_shared<ov::op::v0::Relu>(times(magnitude, 1e4f)), 1e4f);
  large->set_friendly_name("large");
  auto axis = ov::op::v0::Constant::create(ov::element::i64, {1}, {1});
  auto root = std::make_shared<ov::op::v0::Sqrt>(
      std::make_shared<ov::op::v1::ReduceMax>(large, axis, true));
  auto model =
      std::make_shared<ov::Model>(ov::OutputVector{times(root, 0.01f)}, ov::ParameterVector{x});
  x->get_output_tensor(0).set_names({"x"});
  model->output(0).get_tensor().set_names({"y"});
  return model;
}

class OverflowTest : public testing::Test {
 protected:
  // The largest error of an FP16 plan on the host, relative to FP32; infinite where it overflows.
  static double error_with(const std::shared_ptr<ov::Model>& model,
                           const std::set<std::string, std::less<>>& keep_fp32) {
    const engine::HostTensor input{{1, 64}, engine::random_numbers(3, 64, 1, 2)};
    const auto wanted = run_openvino(model, {input}).front().data;
    auto graph = import_model(model, 1);
    EXPECT_TRUE(graph) << graph.error().message;
    engine::PassOptions options;
    options.keep_fp32 = keep_fp32;
    EXPECT_TRUE(engine::run_passes(*graph, options));
    const auto got = engine::run_graph(*graph, {&input, 1});
    EXPECT_TRUE(got);
    return engine::relative_l2(got->front().data, wanted);
  }

  TempFolder folder_;
  openvino::Runtime runtime_;
  config::ModelConfig config_;
};

TEST_F(OverflowTest, InputsAreLookedAtToo) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 4});
  auto model =
      std::make_shared<ov::Model>(ov::OutputVector{times(x, 1e-5f)}, ov::ParameterVector{x});
  x->get_output_tensor(0).set_names({"x"});
  ov::Tensor large(ov::element::f32, {1, 4});
  std::fill_n(large.data<float>(), 4, 1e6f);
  const std::vector<SampleRow> rows = {{large}};
  const auto found = find_overflows(runtime_, *model, rows, 1);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, Contains("x"));
}

TEST_F(OverflowTest, FindsWhatDoesNotFitAndThePlanKeepsIt) {
  const auto model = model_that_overflows();
  const auto rows = sample_rows(*model, config_, folder_.path());
  ASSERT_TRUE(rows) << rows.error().message;
  const auto found = find_overflows(runtime_, *model, *rows, 1);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, Contains("large"));
  EXPECT_THAT(*found, Not(Contains("y")));
  EXPECT_FALSE(error_with(model, {}) < 1);
  EXPECT_LT(error_with(model, *found), 2e-3);
}

TEST_F(OverflowTest, ANetworkThatFitsHasNone) {
  auto model = read_model(PROA_MODELS_DIR "/resnet_pixels.onnx");
  ASSERT_TRUE(model);
  const auto rows = sample_rows(**model, config_, folder_.path());
  ASSERT_TRUE(rows);
  const auto found = find_overflows(runtime_, **model, *rows, 2);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(*found, IsEmpty());
}

TEST_F(OverflowTest, WarmUpFilesAreTheRowsThatAreLookedAt) {
  const std::vector<float> tiny(64, 1e-6f);
  std::ofstream(folder_.path() / "row", std::ios::binary)
      .write(reinterpret_cast<const char*>(tiny.data()), 256);
  config::WarmUp sample;
  sample.name = "s";
  sample.inputs["x"] = {DataType::kFp32, {64}, config::WarmUp::Data::kFile, "row"};
  config_.warm_ups = {sample};
  const auto model = model_that_overflows();
  const auto rows = sample_rows(*model, config_, folder_.path());
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_THAT(std::vector<float>((*rows)[0][0].data<float>(), (*rows)[0][0].data<float>() + 64),
              Each(1e-6f));
  const auto found = find_overflows(runtime_, *model, *rows, 1);
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, IsEmpty());
}

TEST_F(OverflowTest, AFileOfAnotherSizeIsAnError) {
  std::ofstream(folder_.path() / "row") << "four";
  config::WarmUp sample;
  sample.name = "s";
  sample.inputs["x"] = {DataType::kFp32, {64}, config::WarmUp::Data::kFile, "row"};
  config_.warm_ups = {sample};
  const auto rows = sample_rows(*model_that_overflows(), config_, folder_.path());
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().message, HasSubstr("model_warmup 's'"));
  EXPECT_THAT(rows.error().message, HasSubstr("256 bytes"));
}

}  // namespace
}  // namespace proa::backends::cuda
