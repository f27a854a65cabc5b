#include "config/metric_control.h"

#include "config/parse.h"
#include "config/proto_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string control(std::string_view family, std::string_view buckets) {
  return fmt::format(
      "model_metrics {{ metric_control {{ metric_identifier {{ family: '{}' }} "
      "histogram_options {{ buckets: [ {} ] }} }} }}\n",
      family, buckets);
}

TEST(MetricControlTest, BucketsAreReadAndShownAgain) {
  const auto parsed = parse_config(control("proa_batch_size", "1, 3.5, 8"), "c");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->warnings, ElementsAre());
  EXPECT_THAT(parsed->config.histogram_buckets,
              ElementsAre(Pair("proa_batch_size", ElementsAre(1, 3.5, 8))));
  const auto again = parse_config(to_text(parsed->config), "c");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->config.histogram_buckets, parsed->config.histogram_buckets);
}

TEST(MetricControlTest, BoundsThatDoNotRiseAreRefused) {
  for (const char* buckets : {"", "2, 1", "1, 1", "1, inf", "nan"}) {
    const auto parsed = parse_config(control("proa_batch_size", buckets), "c");
    ASSERT_FALSE(parsed) << buckets;
    EXPECT_THAT(parsed.error().message, HasSubstr("metric_control[0].histogram_options.buckets"));
    EXPECT_THAT(parsed.error().message, HasSubstr("each larger than the one before"));
  }
}

TEST(MetricControlTest, AFamilyNamedTwiceIsRefused) {
  const auto parsed =
      parse_config(control("proa_batch_size", "1") + control("proa_batch_size", "2"), "c");
  EXPECT_FALSE(parsed);
}

TEST(MetricControlTest, AnUnknownFamilyIsAWarningThatNamesThoseThereAre) {
  const auto parsed = parse_config(control("nv_nothing", "1"), "c");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_THAT(parsed->warnings, ElementsAre(HasSubstr("'nv_nothing'; there are nv_inference_")));
}

}  // namespace
}  // namespace proa::config
