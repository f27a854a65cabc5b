#include "config_draft.h"

#include "config/parse.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

TEST(ConfigDraftTest, IsReadBack) {
  config::ModelConfig config;
  config.name = "odd \"name\"\\";
  config.backend = "openvino";
  config.max_batch_size = 8;
  config.default_model_filename = "net.onnx";
  config.inputs.push_back({.name = "x", .type = DataType::kBytes, .dims = {-1, 3}});
  config.inputs.push_back({.name = "s", .type = DataType::kBf16, .dims = {1}, .reshape = Shape{}});
  config.outputs.push_back(
      {.name = "y", .type = DataType::kFp32, .dims = {10}, .label_filename = "labels.txt"});
  config.dynamic_batching.emplace();
  config.parameters["execution"] = "inline";

  const auto parsed = config::parse_config(config_draft(config), "draft");
  ASSERT_TRUE(parsed) << parsed.error().message << config_draft(config);
  const config::ModelConfig& back = parsed->config;
  EXPECT_EQ(back.name, config.name);
  EXPECT_EQ(back.backend, "openvino");
  EXPECT_EQ(back.default_model_filename, "net.onnx");
  EXPECT_EQ(back.max_batch_size, 8);
  ASSERT_EQ(back.inputs.size(), 2U);
  EXPECT_EQ(back.inputs[0].type, DataType::kBytes);
  EXPECT_EQ(back.inputs[0].dims, (Shape{-1, 3}));
  EXPECT_EQ(back.inputs[1].type, DataType::kBf16);
  EXPECT_EQ(back.inputs[1].reshape, Shape{});
  EXPECT_EQ(back.outputs[0].label_filename, "labels.txt");
  EXPECT_TRUE(back.dynamic_batching.has_value());
  EXPECT_EQ(back.parameters, config.parameters);
}

TEST(ConfigDraftTest, LeavesAnEmptyNameOut) {
  config::ModelConfig config;
  config.backend = "openvino";
  EXPECT_EQ(config_draft(config).find("name"), std::string::npos) << config_draft(config);
}

}  // namespace
}  // namespace proa
