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

// The parts of a batch's time, apart from the queue. An instance that does not tell them apart
// leaves the inner moments open: then all of it is inference.
TimeSpent compute_times(const Batch& batch) {
  const TimePoint ready = batch.inputs_ready != kNever ? batch.inputs_ready : batch.started;
  const TimePoint computed = batch.computed != kNever ? batch.computed : batch.finished;
  return {.compute_input = ready - batch.started,
          .compute_infer = computed - ready,
          .compute_output = batch.finished - computed};
}

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
  TimeSpent spent = compute_times(batch);
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
    spent.queue = batch.started - request.times.enqueued;
    count_answer(request, spent, whole, batch.finished - batch.started);
  }
  ++counters_.close_reasons[static_cast<std::size_t>(batch.close_reason)];
  last_inference_ = batch.started;
  count_execution(spent, batch.size(), rows);
  TimePoint& busy_until = busy_until_[instance];
  counters_.instance_busy_ns[instance] += ns(batch.finished - std::max(batch.started, busy_until));
  busy_until = std::max(busy_until, batch.finished);
}

void ModelStatistics::record_request(const Request& request, const TimeSpent& spent,
                                     TimePoint now) {
  MutexLock lock(mutex_);
  count_answer(request, spent, now - beginning(request, now),
               spent.compute_input + spent.compute_infer + spent.compute_output);
  last_inference_ = request.times.enqueued;
  count_execution(spent, request.batch_size, request.batch_size);
}

void ModelStatistics::count_answer(const Request& request, const TimeSpent& spent, Duration whole,
                                   Duration compute) {
  if (request.spent != nullptr) request.spent->add(spent);
  add(counters_.success, whole);
  add(counters_.queue, spent.queue);
  add(counters_.compute_input, spent.compute_input);
  add(counters_.compute_infer, spent.compute_infer);
  add(counters_.compute_output, spent.compute_output);
  request_us_.record_exclusively(us(whole));
  queue_us_.record_exclusively(us(spent.queue));
  compute_us_.record_exclusively(us(compute));
  compute_input_us_.record_exclusively(us(spent.compute_input));
  compute_infer_us_.record_exclusively(us(spent.compute_infer));
  compute_output_us_.record_exclusively(us(spent.compute_output));
}

void ModelStatistics::count_execution(const TimeSpent& spent, std::int64_t batch_size,
                                      std::int64_t rows) {
  if (rows == 0) return;  // failed as a whole
  ++counters_.execution_count;
  counters_.inference_count += static_cast<std::uint64_t>(rows);
  BatchSizeStatistics& size = counters_.batch_sizes[batch_size];
  add(size.compute_input, spent.compute_input);
  add(size.compute_infer, spent.compute_infer);
  add(size.compute_output, spent.compute_output);
  batch_size_.record_exclusively(static_cast<std::uint64_t>(batch_size));
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
