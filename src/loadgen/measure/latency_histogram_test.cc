#include "loadgen/measure/latency_histogram.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// Nearest rank, from the sorted values themselves.
double exact(const std::vector<std::int64_t>& sorted, double fraction) {
  const auto rank = std::max<std::size_t>(
      static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size()))), 1);
  return static_cast<double>(sorted[rank - 1]);
}

TEST(LatencyHistogramTest, QuantilesAreWithinATenthOfAPercentOfTheExactOnes) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> draw(std::log(3e6), 2.0);  // around 3 ms, wide
  LatencyHistogram histogram;
  std::vector<std::int64_t> values(200'000);
  for (auto& value : values) {
    value = static_cast<std::int64_t>(draw(random));
    histogram.record(Duration(value));
  }
  std::ranges::sort(values);
  for (const double fraction : {0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const double want = exact(values, fraction);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(fraction).count()), want, 0.001 * want + 1)
        << fraction;
  }
  EXPECT_EQ(histogram.min().count(), values.front());
  EXPECT_EQ(histogram.max().count(), values.back());
}

TEST(LatencyHistogramTest, MeanAndDeviationAreExact) {
  LatencyHistogram histogram;
  for (const int ms : {2, 4, 4, 4, 5, 5, 7, 9}) histogram.record(milliseconds(ms));
  EXPECT_EQ(histogram.mean(), milliseconds(5));
  EXPECT_EQ(histogram.standard_deviation(), milliseconds(2));
}

TEST(LatencyHistogramTest, MergesAndClears) {
  LatencyHistogram a;
  LatencyHistogram b;
  for (int i = 1; i <= 50; ++i) a.record(microseconds(i));
  for (int i = 51; i <= 100; ++i) b.record(microseconds(i));
  a.merge(b);
  EXPECT_EQ(a.count(), 100U);
  EXPECT_NEAR(static_cast<double>(a.quantile(0.9).count()), 90'000, 90);
  EXPECT_NEAR(a.share_at_most(microseconds(25)), 0.25, 0.011);
  EXPECT_EQ(a.max(), microseconds(100));
  a.clear();
  EXPECT_EQ(a.count(), 0U);
  EXPECT_EQ(a.quantile(0.99), Duration(0));
  EXPECT_EQ(a.min(), Duration(0));
}

TEST(LatencyHistogramTest, TakesWhatIsOutOfRange) {
  LatencyHistogram histogram;
  histogram.record(Duration(-5));
  EXPECT_EQ(histogram.quantile(1), Duration(0));
  histogram.record(hours(1));
  EXPECT_EQ(histogram.max(), hours(1));
  EXPECT_EQ(histogram.count(), 2U);
}

TEST(LatencyHistogramTest, BucketsCoverEveryValueOnce) {
  LatencyHistogram histogram;
  std::uint64_t recorded = 0;
  for (std::int64_t value = 1; value < 1'000'000'000; value += value / 3 + 1) {
    histogram.record(Duration(value));
    ++recorded;
  }
  std::uint64_t counted = 0;
  Duration last(-1);
  for (const auto& [upper, count] : histogram.buckets()) {
    EXPECT_GT(upper, last);
    last = upper;
    counted += count;
  }
  EXPECT_EQ(counted, recorded);
  EXPECT_EQ(last, histogram.max());
}

}  // namespace
}  // namespace proa::loadgen
