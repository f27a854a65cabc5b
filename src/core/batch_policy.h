#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "config/model_config.h"
#include "core/close_reason.h"
#include "core/request_queue.h"

namespace proa::core {

// What to do for an instance that is free.
struct Decision {
  enum class Kind : std::uint8_t {
    kNothing,  // no request is waiting
    kWait,     // hold what is there until `until`, or until something changes
    kTake,     // make a batch of the first `count` requests
  };
  Kind kind = Kind::kNothing;
  std::size_t count = 0;
  CloseReason reason = CloseReason::kFull;
  TimePoint until = kNever;

  static Decision nothing() { return {}; }
  static Decision wait(TimePoint until) { return {.kind = Kind::kWait, .until = until}; }
  static Decision take(std::size_t count, CloseReason reason) {
    return {.kind = Kind::kTake, .count = count, .reason = reason};
  }

  // True when a request that comes now could still join the batch.
  bool can_grow() const {
    return reason == CloseReason::kIdle || reason == CloseReason::kDelay ||
           reason == CloseReason::kDeadline || reason == CloseReason::kPreferred;
  }
};

// Decides which waiting requests make the next batch. A pure function of the queue and the time: no
// clock, no lock, no state of its own.
// Threading: immutable.
class BatchPolicy {
 public:
  virtual ~BatchPolicy() = default;
  // `queue` holds nothing that has expired at `now`.
  virtual Decision next(const RequestQueue& queue, TimePoint now) const = 0;
};

// Models without dynamic batching: each request is a batch of its own, first come, first served.
class FifoPolicy final : public BatchPolicy {
 public:
  Decision next(const RequestQueue& queue, TimePoint now) const override;
};

// `dynamic_batching` of the configuration (docs/scheduling.md).
class DynamicPolicy final : public BatchPolicy {
 public:
  explicit DynamicPolicy(const config::ModelConfig& config);
  Decision next(const RequestQueue& queue, TimePoint now) const override;

 private:
  // What the front of the queue would make.
  struct Scan {
    std::size_t count = 0;  // requests that fit together
    std::int64_t rows = 0;
    std::size_t preferred_count = 0;  // of them, those that make the largest preferred size
    std::int64_t preferred_rows = 0;
    bool nothing_can_join = false;  // the next does not fit, or would find the queue full
    TimePoint delay_ends = kNever;  // of the request that has waited longest
    TimePoint must_go = kNever;     // waiting longer would let a request run out of time
  };
  Scan scan(const RequestQueue& queue) const;
  bool is_preferred(std::int64_t rows) const;

  const std::int64_t max_rows_;
  const std::vector<std::int32_t> preferred_;  // ascending, not empty
  const Duration delay_;
  const bool shapes_differ_;  // requests may come with different shapes or inputs
};

// The policy that the configuration asks for.
std::unique_ptr<BatchPolicy> make_policy(const config::ModelConfig& config);

}  // namespace proa::core
