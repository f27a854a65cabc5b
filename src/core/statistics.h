#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/histogram.h"
#include "base/mutex.h"
#include "core/close_reason.h"

namespace proa::core {

class Batch;
struct Request;
struct Response;
struct TimeSpent;

// Why a request got no answer from its model. The names are the values of the label `reason` of
// nv_inference_request_failure.
enum class FailureReason : std::uint8_t { kRejected, kCanceled, kBackend, kOther };
inline constexpr std::size_t kFailureReasons = 4;

// "REJECTED", "CANCELED", "BACKEND", "OTHER".
std::string_view failure_reason_name(FailureReason reason);

// How often something happened and how long it took in all.
struct CountedTime {
  std::uint64_t count = 0;
  std::uint64_t ns = 0;
};

// What the executions of one batch size took.
struct BatchSizeStatistics {
  CountedTime compute_input;
  CountedTime compute_infer;
  CountedTime compute_output;
};

// A model version's counters at one moment, all since it was loaded. Meanings are those of Triton's
// statistics extension: the times of `success` to `compute_output` count once per request (each
// request of a batch took as long as the batch), those of `batch_sizes` once per execution.
struct StatisticsSnapshot {
  CountedTime success;  // ns: from the request's last byte to its last response
  CountedTime fail;
  CountedTime queue;
  CountedTime compute_input;
  CountedTime compute_infer;
  CountedTime compute_output;
  std::uint64_t inference_count = 0;  // sum of batch sizes
  std::uint64_t execution_count = 0;
  std::uint64_t last_inference_ms = 0;  // since the Unix epoch; 0 = never
  std::map<std::int64_t, BatchSizeStatistics> batch_sizes;
  std::array<std::uint64_t, kFailureReasons> failures{};     // by FailureReason
  std::array<std::uint64_t, kCloseReasons> close_reasons{};  // by CloseReason
  std::uint64_t pending = 0;                                 // requests in the queue now
  std::vector<std::uint64_t> instance_busy_ns;               // by instance: time with a batch on it
};

// The counters of one model version. Schedulers write, front ends and metrics read.
// Threading: thread-safe. Writers meet under one lock, taken once per batch.
class ModelStatistics {
 public:
  ModelStatistics(std::size_t instances, const Clock& clock);

  // A finished batch of `instance`, all its moments set, and the responses to its requests.
  void record_batch(const Batch& batch, std::size_t instance, std::span<const Response> responses)
      PROA_EXCLUDES(mutex_);
  // An answer to a request that ran on its own, by way of other models: counts as an execution of
  // its rows.
  void record_request(const Request& request, const TimeSpent& spent, TimePoint now)
      PROA_EXCLUDES(mutex_);
  // A request that ended without having been computed.
  void record_failure(const Request& request, FailureReason reason, TimePoint now)
      PROA_EXCLUDES(mutex_);
  void set_pending(std::size_t requests) { pending_.store(requests, std::memory_order_relaxed); }

  StatisticsSnapshot snapshot() const PROA_EXCLUDES(mutex_);

  // Distributions of the successful requests, in microseconds, and of the batch sizes.
  const Histogram& request_us() const { return request_us_; }
  const Histogram& queue_us() const { return queue_us_; }
  const Histogram& compute_us() const { return compute_us_; }
  const Histogram& compute_input_us() const { return compute_input_us_; }
  const Histogram& compute_infer_us() const { return compute_infer_us_; }
  const Histogram& compute_output_us() const { return compute_output_us_; }
  const Histogram& batch_size() const { return batch_size_; }

 private:
  void count_answer(const Request& request, const TimeSpent& spent, Duration whole,
                    Duration compute) PROA_REQUIRES(mutex_);
  void count_execution(const TimeSpent& spent, std::int64_t batch_size, std::int64_t rows)
      PROA_REQUIRES(mutex_);
  void count_failure(FailureReason reason, Duration duration) PROA_REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  StatisticsSnapshot counters_ PROA_GUARDED_BY(mutex_);
  std::vector<TimePoint> busy_until_ PROA_GUARDED_BY(mutex_);  // by instance: end of its last batch
  TimePoint last_inference_ PROA_GUARDED_BY(mutex_) = kNever;
  std::atomic<std::size_t> pending_ = 0;
  Histogram request_us_;
  Histogram queue_us_;
  Histogram compute_us_;
  Histogram compute_input_us_;
  Histogram compute_infer_us_;
  Histogram compute_output_us_;
  Histogram batch_size_;
};

}  // namespace proa::core
