#include "core/custom_metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::core {
namespace {

using Change = CustomMetrics::Change;
using Kind = CustomMetrics::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

CustomMetrics::Identity counter(std::string family, std::string label = "a") {
  return {Kind::kCounter, std::move(family), "help", {{"model", std::move(label)}}, {}};
}

class CustomMetricsTest : public testing::Test {
 protected:
  std::string refusal(const CustomMetrics::Identity& metric) {
    const auto value = owner_->value(metric);
    return value ? "" : value.error().message;
  }

  std::shared_ptr<CustomMetrics> metrics_ = CustomMetrics::create();
  std::shared_ptr<CustomMetrics::Owner> owner_ = metrics_->add_owner();
};

TEST_F(CustomMetricsTest, OwnersShareAMetricUntilTheLastIsGone) {
  auto other = metrics_->add_owner();
  ASSERT_TRUE(owner_->change(counter("words"), Change::kIncrement, 2));
  ASSERT_TRUE(other->change(counter("words"), Change::kIncrement, 3));
  ASSERT_TRUE(other->change(counter("words", "b"), Change::kIncrement, 1));
  EXPECT_EQ(owner_->value(counter("words")), 5);
  EXPECT_EQ(metrics_->families().at("words").metrics.size(), 2u);
  other.reset();
  EXPECT_EQ(metrics_->families().at("words").metrics.size(), 1u);
  EXPECT_EQ(owner_->value(counter("words")), 5);
  owner_.reset();
  EXPECT_TRUE(metrics_->families().empty());
}

TEST_F(CustomMetricsTest, AGaugeIsSetAndIncremented) {
  CustomMetrics::Identity gauge = counter("level");
  gauge.kind = Kind::kGauge;
  ASSERT_TRUE(owner_->change(gauge, Change::kSet, 7));
  ASSERT_TRUE(owner_->change(gauge, Change::kIncrement, -10));
  EXPECT_EQ(owner_->value(gauge), -3);
  EXPECT_FALSE(owner_->change(gauge, Change::kObserve, 1));
}

TEST_F(CustomMetricsTest, AHistogramCountsUpToItsBounds) {
  const CustomMetrics::Identity histogram{Kind::kHistogram, "size", "help", {}, {1, 10}};
  for (const double value : {0.5, 1.0, 5.0, 10.5}) {
    ASSERT_TRUE(owner_->change(histogram, Change::kObserve, value));
  }
  const auto metric = metrics_->families().at("size").metrics.at({});
  EXPECT_THAT(metric.buckets, ElementsAre(2, 1, 1));
  EXPECT_EQ(metric.count, 4u);
  EXPECT_EQ(metric.value, 17);
}

TEST_F(CustomMetricsTest, RefusesWhatPrometheusOrAKindDoesNotAllow) {
  EXPECT_THAT(refusal(counter("two words")), HasSubstr("a name is of letters"));
  EXPECT_THAT(refusal(counter("")), HasSubstr("a name is of letters"));
  EXPECT_THAT(refusal(counter("nv_inference_count")), HasSubstr("the server's own"));
  CustomMetrics::Identity metric = counter("words");
  metric.labels = {{"le", "1"}};
  EXPECT_THAT(refusal(metric), HasSubstr("label 'le'"));
  EXPECT_EQ(refusal(counter("words")), "");
  metric = counter("words", "b");
  metric.kind = Kind::kGauge;
  EXPECT_THAT(refusal(metric), HasSubstr("is a counter already, not a gauge"));
  EXPECT_FALSE(owner_->change(counter("words"), Change::kIncrement, -1));
  EXPECT_FALSE(owner_->change(counter("words"), Change::kSet, 1));
  metric = {Kind::kHistogram, "sizes", "help", {}, {10, 1}};
  EXPECT_THAT(refusal(metric), HasSubstr("do not ascend"));
}

}  // namespace
}  // namespace proa::core
