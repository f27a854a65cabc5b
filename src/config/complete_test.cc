#include "config/complete.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::config {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kFiles = {"model.onnx"};

// The completed configuration of a model with one input whose backend finds a batch dimension.
Result<ParsedConfig> complete(std::string_view text, const CompletionOptions& options) {
  PROA_ASSIGN(ParsedConfig parsed, parse_config(text, "config.pbtxt"));
  PROA_TRY(complete_from_folder("m", kFiles, options, parsed));
  if (!max_batch_size_decided(options, parsed)) parsed.config.max_batch_size = 1;
  PROA_TRY(complete_rest(options, parsed));
  return parsed;
}

constexpr std::string_view kTensors =
    "input { name: 'x' data_type: TYPE_FP32 dims: 1 } output { name: 'y' data_type: TYPE_FP32 "
    "dims: "
    "1 } ";

TEST(CompleteTest, KindGpuMeansBackendCudaOrTheCpuWhenThatIsAskedFor) {
  const std::string text =
      std::string(kTensors) + "instance_group { kind: KIND_GPU gpus: 1 } backend: 'onnxruntime'";
  EXPECT_EQ(complete(text, {})->config.backend, "cuda");
  const auto parsed = complete(text, {.gpu_models_on_cpu = true});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->config.backend, "openvino");
  EXPECT_EQ(parsed->config.instance_groups[0].kind, InstanceGroup::Kind::kCpu);
  EXPECT_TRUE(parsed->config.instance_groups[0].gpus.empty());
  ASSERT_EQ(parsed->warnings.size(), 1u);
  EXPECT_THAT(parsed->warnings[0], HasSubstr("instance_group[0]"));
}

TEST(CompleteTest, TakesTheDefaultBatchSizeFromTheOptions) {
  const auto with_default = [](std::int32_t size) {
    return complete(kTensors, {.default_max_batch_size = size})->config;
  };
  EXPECT_EQ(with_default(16).max_batch_size, 16);
  EXPECT_TRUE(with_default(16).dynamic_batching);
  EXPECT_EQ(with_default(1).max_batch_size, 1);
  EXPECT_FALSE(with_default(1).dynamic_batching);
  EXPECT_EQ(with_default(0).max_batch_size, 0);
}

TEST(CompleteTest, KeepsStatedDynamicBatching) {
  const auto parsed =
      complete(std::string(kTensors) + "dynamic_batching { max_queue_delay_microseconds: 7 }", {});
  EXPECT_EQ(parsed->config.max_batch_size, 4);
  EXPECT_EQ(parsed->config.dynamic_batching->max_queue_delay.count(), 7);
}

TEST(CompleteTest, FillsNothingWhenItIsOff) {
  const CompletionOptions off{.enabled = false};
  const Error error = complete("", off).error();
  for (const char* missing : {"name: ", "backend: ", "input: ", "output: "}) {
    EXPECT_THAT(error.message, HasSubstr(std::string("config.pbtxt: ") + missing));
  }
  const auto stated = complete(
      std::string(kTensors) + "name: 'm' max_batch_size: 0 platform: 'onnxruntime_onnx'", off);
  ASSERT_TRUE(stated) << stated.error().message;
  EXPECT_EQ(stated->config.default_model_filename, "model.onnx");
}

TEST(CompleteTest, ChecksWhatTheBackendFilledIn) {
  ParsedConfig parsed = *parse_config("max_batch_size: 1", "config.pbtxt");
  ASSERT_TRUE(complete_from_folder("m", kFiles, {}, parsed));
  parsed.config.inputs = {{.name = "x", .type = DataType::kFp32, .dims = {0}}};
  parsed.config.outputs = {{.name = "y", .type = DataType::kFp32, .dims = {1}}};
  EXPECT_THAT(complete_rest({}, parsed).error().message,
              HasSubstr("input[0].dims[0]: 0 is no extent"));
}

}  // namespace
}  // namespace proa::config
