#include "core/statistics.h"

#include <algorithm>

#include "core/batch.h"
#include "core/request.h"

namespace proa::core {
namespace {

std::uint64_t ns(Duration duration) {
  return static_cast<std::uint64_t>(std::max<Duration::rep>(0, duration.count()));
}

std::uint64_t us(Duration duration) { return ns(duration) / 1000; }

void add(CountedTime& to, Duration duration) {
  ++to.count;
  to.ns += ns(duration);
}

// When the request began for its client.
TimePoint beginning(const Request& request, TimePoint fallback) {
  if (request.times.received != kNever) return request.times.received;
  return request.times.enqueued != kNever ? request.times.enqueued : fallback;
}

// The parts of a batch's time. An instance that does not tell them apart leaves the inner moments
// open: then all of it is inference.
struct ComputeTimes {
  explicit ComputeTimes(const Batch& batch) {
    const TimePoint ready = batch.inputs_ready != kNever ? batch.inputs_ready : batch.started;
    const TimePoint computed = batch.computed != kNever ? batch.computed : batch.finished;
    input = ready - batch.started;
    infer = computed - ready;
    output = batch.finished - computed;
    total = batch.finished - batch.started;
  }
  Duration input;
  Duration infer;
  Duration output;
  Duration total;
};

}  // namespace

std::string_view failure_reason_name(FailureReason reason) {
  static constexpr std::string_view kNames[kFailureReasons] = {"REJECTED", "CANCELED", "BACKEND",
                                                               "OTHER"};
  return kNames[static_cast<std::size_t>(reason)];
}

ModelStatistics::ModelStatistics(std::size_t instances, const Clock& clock)
    : clock_(clock), busy_until_(instances, TimePoint::min()) {
  counters_.instance_busy_ns.resize(instances);
}

void ModelStatistics::record_batch(const Batch& batch, std::size_t instance,
                                   std::span<const Response> responses) {
  const ComputeTimes times(batch);
  MutexLock lock(mutex_);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const Request& request = *batch.requests()[i];
    const Duration whole = batch.finished - beginning(request, batch.started);
    if (responses[i].error) {
      count_failure(responses[i].error->code == ErrorCode::kCancelled ? FailureReason::kCanceled
                                                                      : FailureReason::kBackend,
                    whole);
      continue;
    }
    rows += request.batch_size;
    const Duration queued = batch.started - request.times.enqueued;
    add(counters_.success, whole);
    add(counters_.queue, queued);
    add(counters_.compute_input, times.input);
    add(counters_.compute_infer, times.infer);
    add(counters_.compute_output, times.output);
    request_us_.record_exclusively(us(whole));
    queue_us_.record_exclusively(us(queued));
    compute_us_.record_exclusively(us(times.total));
    compute_input_us_.record_exclusively(us(times.input));
    compute_infer_us_.record_exclusively(us(times.infer));
    compute_output_us_.record_exclusively(us(times.output));
  }
  count_execution(batch, times.input, times.infer, times.output, rows);
  TimePoint& busy_until = busy_until_[instance];
  counters_.instance_busy_ns[instance] += ns(batch.finished - std::max(batch.started, busy_until));
  busy_until = std::max(busy_until, batch.finished);
}

void ModelStatistics::count_execution(const Batch& batch, Duration input, Duration infer,
                                      Duration output, std::int64_t rows) {
  ++counters_.close_reasons[static_cast<std::size_t>(batch.close_reason)];
  last_inference_ = batch.started;
  if (rows == 0) return;  // failed as a whole
  ++counters_.execution_count;
  counters_.inference_count += static_cast<std::uint64_t>(rows);
  BatchSizeStatistics& size = counters_.batch_sizes[batch.size()];
  add(size.compute_input, input);
  add(size.compute_infer, infer);
  add(size.compute_output, output);
  batch_size_.record_exclusively(static_cast<std::uint64_t>(batch.size()));
}

void ModelStatistics::count_failure(FailureReason reason, Duration duration) {
  add(counters_.fail, duration);
  ++counters_.failures[static_cast<std::size_t>(reason)];
}

void ModelStatistics::record_failure(const Request& request, FailureReason reason, TimePoint now) {
  MutexLock lock(mutex_);
  count_failure(reason, now - beginning(request, now));
}

StatisticsSnapshot ModelStatistics::snapshot() const {
  StatisticsSnapshot copy;
  TimePoint last = kNever;
  {
    MutexLock lock(mutex_);
    copy = counters_;
    last = last_inference_;
  }
  copy.pending = pending_.load(std::memory_order_relaxed);
  if (last != kNever) {
    const auto wall = std::chrono::system_clock::now().time_since_epoch() - (clock_.now() - last);
    copy.last_inference_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(wall).count());
  }
  return copy;
}

}  // namespace proa::core
