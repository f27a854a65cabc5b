#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace proa {

// Counts non-negative integers (microseconds, batch sizes) in buckets whose width is at most 1/16
// of their value, up to 2^40; larger values count in the last bucket. Threading: thread-safe;
// record() is two relaxed additions. A reader sees each count at some recent moment, not all at the
// same one. Source: G. Tene, HdrHistogram (http://hdrhistogram.org), the log-linear layout.
class Histogram {
 public:
  static constexpr int kSubBuckets = 16;
  static constexpr int kMaxExponent = 40;
  static constexpr std::size_t kBuckets = (kMaxExponent - 3) * kSubBuckets;

  void record(std::uint64_t value) {
    buckets_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  // The same, cheaper, where one lock is held around every call.
  void record_exclusively(std::uint64_t value) {
    add(buckets_[bucket_of(value)], 1);
    add(sum_, value);
  }

  // How many values each bucket has, as of now.
  using Counts = std::array<std::uint64_t, kBuckets>;
  Counts counts() const;
  std::uint64_t count() const;
  std::uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }

  // How many recorded values are <= `bound`, to the bucket's width.
  std::uint64_t count_at_most(std::uint64_t bound) const;

  // The value below which `fraction` (0..1) of the recorded values lie, to the bucket's width; 0
  // when nothing was recorded.
  std::uint64_t quantile(double fraction) const { return quantile(counts(), fraction); }
  static std::uint64_t quantile(const Counts& counts, double fraction);

  static std::size_t bucket_of(std::uint64_t value);
  // The largest value that counts in `bucket`.
  static std::uint64_t upper_bound(std::size_t bucket);

 private:
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t value) {
    to.store(to.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> sum_ = 0;
};

}  // namespace proa
