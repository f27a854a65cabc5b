#include "backends/cuda/settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

config::ModelConfig with_parameters(std::map<std::string, std::string> parameters) {
  config::ModelConfig config;
  config.parameters = std::move(parameters);
  return config;
}

TEST(CudaSettingsTest, ReadsItsParametersAndListsTheRest) {
  std::vector<std::string> unknown;
  const auto settings = parse_settings(with_parameters({{"INFERENCE_PRECISION", "FP16"},
                                                        {"gpu_buckets", "64,1,8"},
                                                        {"gpu_tuning", "first"},
                                                        {"min_cluster_ops", "7"},
                                                        {"cpu_operators", "TopK,Softmax"},
                                                        {"cpu_nodes", "head"},
                                                        {"gpu_placement", "all"},
                                                        {"require_gpu", "true"},
                                                        {"fp32_nodes", " a, b,"},
                                                        {"fp16_check", "false"},
                                                        {"gpu_shapes", "3"},
                                                        {"warm_up_ms", "3"}}),
                                       unknown);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->precision, engine::Precision::kFp16);
  EXPECT_THAT(settings->buckets, ElementsAre(1, 8, 64));
  EXPECT_EQ(settings->tune, false);
  EXPECT_EQ(settings->placement.min_cluster_ops, 7);
  EXPECT_THAT(settings->placement.cpu_operators, ElementsAre("Softmax", "TopK"));
  EXPECT_THAT(settings->placement.cpu_nodes, ElementsAre("head"));
  EXPECT_FALSE(settings->placement.by_cost);
  EXPECT_TRUE(settings->require_gpu);
  EXPECT_THAT(settings->fp32_nodes, ElementsAre("a", "b"));
  EXPECT_FALSE(settings->check_overflow);
  EXPECT_EQ(settings->most_shapes, 3);
  EXPECT_THAT(unknown, ElementsAre("warm_up_ms"));
}

TEST(CudaSettingsTest, ComputesInFp32UnlessToldOtherwise) {
  std::vector<std::string> unknown;
  const auto settings = parse_settings({}, unknown);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->precision, engine::Precision::kFp32);
  EXPECT_EQ(settings->tune, std::nullopt);
  EXPECT_TRUE(settings->check_overflow);
  EXPECT_THAT(settings->buckets, IsEmpty());
}

TEST(CudaSettingsTest, BadValuesAreNamed) {
  std::vector<std::string> unknown;
  for (const auto& [key, value] :
       {std::pair("inference_precision", "int4"), std::pair("gpu_buckets", "1,x"),
        std::pair("gpu_buckets", "0"), std::pair("gpu_tuning", "some"),
        std::pair("min_cluster_ops", "0"), std::pair("gpu_shapes", "-1"),
        std::pair("gpu_placement", "some"), std::pair("require_gpu", "maybe")}) {
    const auto settings = parse_settings(with_parameters({{key, value}}), unknown);
    ASSERT_FALSE(settings) << key;
    EXPECT_EQ(settings.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(settings.error().message, HasSubstr(key));
    EXPECT_THAT(settings.error().message, HasSubstr(value));
  }
}

TEST(ChooseBucketsTest, PowersOfTwoPreferredSizesAndTheLargest) {
  EXPECT_THAT(choose_buckets(1, {}), ElementsAre(1));
  EXPECT_THAT(choose_buckets(8, {}), ElementsAre(1, 2, 4, 8));
  const std::vector<std::int32_t> preferred = {5, 100, 0};
  EXPECT_THAT(choose_buckets(12, preferred), ElementsAre(1, 2, 4, 5, 8, 12));
}

}  // namespace
}  // namespace proa::backends::cuda
