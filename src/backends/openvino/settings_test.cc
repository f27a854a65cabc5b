#include "backends/openvino/settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

config::ModelConfig with_parameters(std::map<std::string, std::string> parameters) {
  config::ModelConfig config;
  config.parameters = std::move(parameters);
  return config;
}

TEST(SettingsTest, TakesHalfPrecisionUnlessAParameterSaysOtherwise) {
  std::vector<std::string> unknown;
  config::ModelConfig config;
  config.half_precision = true;
  EXPECT_EQ(parse_settings(config, unknown)->precision, Precision::kF16);
  config.parameters["inference_precision"] = "f32";
  EXPECT_EQ(parse_settings(config, unknown)->precision, Precision::kF32);
}

TEST(SettingsTest, DefaultsToFullPrecision) {
  std::vector<std::string> unknown;
  const auto settings = parse_settings({}, unknown);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->precision, Precision::kF32);
  EXPECT_EQ(settings->threads, 0);
  EXPECT_EQ(settings->execution, core::Execution::kBlocking);
}

TEST(SettingsTest, ReadsEveryParameterAndReportsTheRest) {
  std::vector<std::string> unknown;
  const auto settings = parse_settings(with_parameters({{"inference_precision", "BF16"},
                                                        {"INFERENCE_NUM_THREADS", "3"},
                                                        {"execution", "inline"},
                                                        {"warm_up_ms", "0"},
                                                        {"SKIP_OV_DYNAMIC_BATCHSIZE", "YES"}}),
                                       unknown);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->precision, Precision::kBf16);
  EXPECT_EQ(settings->threads, 3);
  EXPECT_EQ(settings->execution, core::Execution::kInline);
  EXPECT_EQ(settings->warm_up_ms, 0);
  EXPECT_THAT(unknown, ElementsAre("SKIP_OV_DYNAMIC_BATCHSIZE"));
}

TEST(SettingsTest, RefusesValuesByName) {
  const std::pair<std::string, std::string> bad[] = {
      {"inference_precision", "int8"}, {"inference_num_threads", "two"},
      {"inference_num_threads", "-1"}, {"inference_num_threads", "4x"},
      {"execution", "async"},          {"warm_up_ms", ""},
  };
  for (const auto& [key, value] : bad) {
    std::vector<std::string> unknown;
    const auto settings = parse_settings(with_parameters({{key, value}}), unknown);
    ASSERT_FALSE(settings) << key << "=" << value;
    EXPECT_EQ(settings.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(settings.error().message, HasSubstr(key));
    EXPECT_THAT(settings.error().message, HasSubstr("'" + value + "'"));
  }
}

}  // namespace
}  // namespace proa::backends::openvino
