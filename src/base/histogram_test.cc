#include "base/histogram.h"

#include <gtest/gtest.h>

namespace proa {
namespace {

TEST(HistogramTest, EveryValueLiesInItsBucket) {
  for (std::uint64_t value = 0; value < 100000; ++value) {
    const std::size_t bucket = Histogram::bucket_of(value);
    EXPECT_LE(value, Histogram::upper_bound(bucket));
    if (bucket > 0) {
      EXPECT_GT(value, Histogram::upper_bound(bucket - 1));
    }
  }
}

TEST(HistogramTest, BucketsAreNarrow) {
  for (std::uint64_t value : {100ull, 12345ull, 987654321ull}) {
    const double upper = Histogram::upper_bound(Histogram::bucket_of(value));
    EXPECT_LE(upper / value, 1.07);
  }
}

TEST(HistogramTest, HugeValuesCountInTheLastBucket) {
  Histogram histogram;
  histogram.record(~0ull);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.count_at_most(1ull << 39), 0u);
}

TEST(HistogramTest, QuantilesFollowTheData) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  for (int value = 1; value <= 1000; ++value) histogram.record(value);
  EXPECT_EQ(histogram.count(), 1000u);
  EXPECT_EQ(histogram.sum(), 500500u);
  EXPECT_NEAR(histogram.quantile(0.5), 500, 32);
  EXPECT_NEAR(histogram.quantile(0.99), 990, 32);
}

TEST(HistogramTest, ExclusiveRecordsCountLikeOthers) {
  Histogram histogram;
  histogram.record(100);
  histogram.record_exclusively(100);
  EXPECT_EQ(histogram.count(), 2u);
  EXPECT_EQ(histogram.sum(), 200u);
}

}  // namespace
}  // namespace proa
