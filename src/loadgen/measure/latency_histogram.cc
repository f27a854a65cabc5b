#include "loadgen/measure/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace proa::loadgen {
namespace {

Duration to_duration(double ns) { return Duration(std::llround(ns)); }

}  // namespace

std::size_t LatencyHistogram::bucket_of(std::uint64_t value) {
  const int exponent = std::bit_width(value);
  if (exponent <= kBits) return static_cast<std::size_t>(value);
  const int shift = exponent - kBits;
  const std::size_t bucket =
      static_cast<std::size_t>(shift) * kHalf + static_cast<std::size_t>(value >> shift);
  return std::min(bucket, kParts * kHalf - 1);
}

std::uint64_t LatencyHistogram::lower_bound(std::size_t bucket) {
  if (bucket < 2 * kHalf) return bucket;
  const std::size_t shift = bucket / kHalf - 1;
  return static_cast<std::uint64_t>(bucket - shift * kHalf) << shift;
}

std::uint64_t LatencyHistogram::width(std::size_t bucket) {
  return bucket < 2 * kHalf ? 1 : std::uint64_t{1} << (bucket / kHalf - 1);
}

void LatencyHistogram::record(Duration value) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
  const std::size_t bucket = bucket_of(ns);
  std::vector<std::uint64_t>& part = counts_[bucket / kHalf];
  if (part.empty()) part.resize(kHalf);
  ++part[bucket % kHalf];
  ++count_;
  min_ = std::min(min_, ns);
  max_ = std::max(max_, ns);
  const auto number = static_cast<double>(ns);
  sum_ += number;
  sum_of_squares_ += number * number;
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < kParts; ++i) {
    const std::vector<std::uint64_t>& theirs = other.counts_[i];
    if (theirs.empty()) continue;
    if (counts_[i].empty()) counts_[i].resize(kHalf);
    std::ranges::transform(counts_[i], theirs, counts_[i].begin(), std::plus());
  }
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
}

template <typename Visit>
void LatencyHistogram::each(Visit visit) const {
  for (std::size_t i = 0; i < kParts; ++i) {
    for (std::size_t j = 0; j < counts_[i].size(); ++j) {
      if (counts_[i][j] > 0 && !visit(i * kHalf + j, counts_[i][j])) return;
    }
  }
}

void LatencyHistogram::clear() { *this = LatencyHistogram(); }

Duration LatencyHistogram::min() const {
  return Duration(count_ == 0 ? 0 : static_cast<std::int64_t>(min_));
}

Duration LatencyHistogram::mean() const {
  return count_ == 0 ? Duration(0) : to_duration(sum_ / static_cast<double>(count_));
}

Duration LatencyHistogram::standard_deviation() const {
  if (count_ == 0) return Duration(0);
  const auto n = static_cast<double>(count_);
  const double mean = sum_ / n;
  return to_duration(std::sqrt(std::max(sum_of_squares_ / n - mean * mean, 0.0)));
}

Duration LatencyHistogram::quantile(double fraction) const {
  if (count_ == 0) return Duration(0);
  // The rank of the wanted value among 1..count, the nearest-rank definition.
  const double wanted = std::clamp(std::ceil(fraction * static_cast<double>(count_)), 1.0,
                                   static_cast<double>(count_));
  double before = 0;
  Duration found = max();
  each([&](std::size_t bucket, std::uint64_t count) {
    const auto here = static_cast<double>(count);
    if (before + here < wanted) {
      before += here;
      return true;
    }
    const double share = (wanted - before - 0.5) / here;
    const double value =
        static_cast<double>(lower_bound(bucket)) + share * static_cast<double>(width(bucket));
    found = to_duration(std::clamp(value, static_cast<double>(min_), static_cast<double>(max_)));
    return false;
  });
  return found;
}

double LatencyHistogram::share_at_most(Duration bound) const {
  if (count_ == 0) return 0;
  if (bound.count() < 0) return 0;
  const std::size_t last = bucket_of(static_cast<std::uint64_t>(bound.count()));
  std::uint64_t below = 0;
  each([&](std::size_t bucket, std::uint64_t count) {
    if (bucket > last) return false;
    below += count;
    return true;
  });
  return static_cast<double>(below) / static_cast<double>(count_);
}

std::vector<LatencyHistogram::Bucket> LatencyHistogram::buckets() const {
  std::vector<Bucket> found;
  each([&](std::size_t bucket, std::uint64_t count) {
    const std::uint64_t upper = std::min(lower_bound(bucket) + width(bucket) - 1, max_);
    found.push_back({Duration(static_cast<std::int64_t>(upper)), count});
    return true;
  });
  return found;
}

}  // namespace proa::loadgen
