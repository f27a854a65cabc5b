#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace proa {

// Values below 16 have a bucket each; above, the exponent and the next four bits choose one.
std::size_t Histogram::bucket_of(std::uint64_t value) {
  if (value < kSubBuckets) return value;
  const int exponent = std::bit_width(value) - 1;  // >= 4
  if (exponent >= kMaxExponent) return kBuckets - 1;
  const std::uint64_t sub = (value >> (exponent - 4)) & (kSubBuckets - 1);
  return static_cast<std::size_t>(exponent - 3) * kSubBuckets + sub;
}

std::uint64_t Histogram::upper_bound(std::size_t bucket) {
  if (bucket < kSubBuckets) return bucket;
  const int exponent = static_cast<int>(bucket / kSubBuckets) + 3;
  const std::uint64_t sub = bucket % kSubBuckets;
  return ((kSubBuckets + sub + 1) << (exponent - 4)) - 1;
}

Histogram::Counts Histogram::counts() const {
  Counts copy;
  for (std::size_t i = 0; i < kBuckets; ++i) copy[i] = buckets_[i].load(std::memory_order_relaxed);
  return copy;
}

std::uint64_t Histogram::count() const {
  std::uint64_t total = 0;
  for (const auto& bucket : buckets_) total += bucket.load(std::memory_order_relaxed);
  return total;
}

std::uint64_t Histogram::count_at_most(std::uint64_t bound) const {
  std::uint64_t total = 0;
  const std::size_t last = bucket_of(bound);
  for (std::size_t i = 0; i <= last; ++i) total += buckets_[i].load(std::memory_order_relaxed);
  return total;
}

std::uint64_t Histogram::quantile(const Counts& counts, double fraction) {
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (total == 0) return 0;
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(std::clamp(fraction, 0.0, 1.0) * total)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts[i];
    if (seen >= rank) return upper_bound(i);
  }
  return upper_bound(kBuckets - 1);
}

}  // namespace proa
