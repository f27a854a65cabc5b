#include "observe/metrics_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proa::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SetMetricsOptionTest, TakesTritonsSettings) {
  MetricsOptions options;
  ASSERT_TRUE(set_metrics_option(options, "counter_latencies=false"));
  ASSERT_TRUE(set_metrics_option(options, "summary_latencies=true"));
  ASSERT_TRUE(set_metrics_option(options, "histogram_latencies=true"));
  ASSERT_TRUE(set_metrics_option(options, "summary_quantiles=0.99:0.001,0.5:0.05"));
  EXPECT_FALSE(options.counter_latencies);
  EXPECT_TRUE(options.summary_latencies);
  EXPECT_TRUE(options.histogram_latencies);
  EXPECT_THAT(options.summary_quantiles, ElementsAre(0.5, 0.99));
}

TEST(SetMetricsOptionTest, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "'' is no setting"},
      {"counters=true", "counter_latencies, histogram_latencies, summary_latencies"},
      {"counter_latencies", "wanted true or false, not ''"},
      {"counter_latencies=1", "wanted true or false, not '1'"},
      {"summary_quantiles=", "'' is not QUANTILE:ERROR"},
      {"summary_quantiles=0.5", "'0.5' is not QUANTILE:ERROR"},
      {"summary_quantiles=1.5:0.1", "'1.5' is no number between 0 and 1"},
      {"summary_quantiles=0.5:x", "'x' is no number between 0 and 1"},
      {"summary_quantiles=0.5:0.1,", "'' is not QUANTILE:ERROR"},
      {"summary_quantiles=0.5:0.1,0.5:0.2", "given twice"},
  };
  for (const auto& [text, wanted] : cases) {
    MetricsOptions options;
    const Status status = set_metrics_option(options, text);
    ASSERT_FALSE(status) << text;
    EXPECT_THAT(status.error().message, HasSubstr(wanted));
    EXPECT_EQ(options.summary_quantiles, MetricsOptions().summary_quantiles);
  }
}

}  // namespace
}  // namespace proa::observe
