#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"

namespace proa::loadgen {

// Counts durations in buckets whose width is 1/1024 of their value at most (0.1 %), from 1 ns to
// 18 minutes; longer ones count in the last bucket, negative ones as 0. Quantiles interpolate
// within a bucket, so they are within 0.1 % of the true one. 8 kB for each power of two that values
// lie in, taken with the first of them.
// Threading: a plain value, confined to one thread at a time.
// Source: G. Tene, HdrHistogram (http://hdrhistogram.org), the log-linear layout.
class LatencyHistogram {
 public:
  void record(Duration value);
  void merge(const LatencyHistogram& other);
  void clear();

  std::uint64_t count() const { return count_; }
  Duration min() const;
  Duration max() const { return Duration(static_cast<std::int64_t>(max_)); }
  Duration mean() const;
  // Of the recorded values, each exact.
  Duration standard_deviation() const;
  // The value at or below which `fraction` (0..1) of the values lie; 0 when nothing was
  // recorded.
  Duration quantile(double fraction) const;
  // The share (0..1) of values at or below `bound`, to the bucket's width.
  double share_at_most(Duration bound) const;

  // For plots: each bucket that is not empty, by its largest value.
  struct Bucket {
    Duration upper_bound;
    std::uint64_t count;
  };
  std::vector<Bucket> buckets() const;

 private:
  static constexpr int kBits = 11;  // values below 2^kBits ns are exact
  static constexpr int kMaxExponent = 40;
  static constexpr std::size_t kHalf = std::size_t{1} << (kBits - 1);
  static constexpr std::size_t kParts = kMaxExponent - kBits + 2;

  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t lower_bound(std::size_t bucket);  // the smallest value in it
  static std::uint64_t width(std::size_t bucket);

  // Calls visit(bucket, count) for each bucket that is not empty, in their order, until it returns
  // false.
  template <typename Visit>
  void each(Visit visit) const;

  std::array<std::vector<std::uint64_t>, kParts> counts_;  // of kHalf buckets each, or none
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

}  // namespace proa::loadgen
