#include "core/batch_policy.h"

#include <algorithm>
#include <vector>

namespace proa::core {
namespace {

std::vector<std::int32_t> preferred_sizes(const config::ModelConfig& config) {
  auto sizes = config.dynamic_batching->preferred_batch_sizes;
  if (sizes.empty()) sizes.push_back(std::max(1, config.max_batch_size));
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

bool shapes_may_differ(const config::ModelConfig& config) {
  return std::any_of(config.inputs.begin(), config.inputs.end(), [](const config::Tensor& input) {
    return input.optional || !input.dims.is_fully_known();
  });
}

}  // namespace

std::string_view close_reason_name(CloseReason reason) {
  static constexpr std::string_view kNames[kCloseReasons] = {
      "full", "preferred", "delay", "next_does_not_fit", "deadline", "idle"};
  return kNames[static_cast<std::size_t>(reason)];
}

Decision FifoPolicy::next(const RequestQueue& queue, TimePoint) const {
  return queue.empty() ? Decision::nothing() : Decision::take(1, CloseReason::kFull);
}

DynamicPolicy::DynamicPolicy(const config::ModelConfig& config)
    : max_rows_(std::max(1, config.max_batch_size)),
      preferred_(preferred_sizes(config)),
      delay_(config.dynamic_batching->max_queue_delay),
      shapes_differ_(shapes_may_differ(config)) {}

bool DynamicPolicy::is_preferred(std::int64_t rows) const {
  return std::binary_search(preferred_.begin(), preferred_.end(), rows);
}

DynamicPolicy::Scan DynamicPolicy::scan(const RequestQueue& queue) const {
  Scan scan;
  const QueuedRequest* const first = queue.first();
  scan.nothing_can_join = first != nullptr && queue.is_full(first->level);
  for (const QueuedRequest* item = first; item != nullptr; item = queue.next(*item)) {
    const std::int64_t rows = item->request->batch_size;
    if (scan.rows + rows > max_rows_ ||
        (shapes_differ_ && !can_share_batch(*first->request, *item->request))) {
      scan.nothing_can_join = true;
      break;
    }
    scan.rows += rows;
    ++scan.count;
    if (is_preferred(scan.rows)) {
      scan.preferred_rows = scan.rows;
      scan.preferred_count = scan.count;
    }
    scan.delay_ends = std::min(scan.delay_ends, deadline_after(item->enqueued, delay_));
    if (item->lost != kNever) {
      // Half of its time may be spent on waiting for others; the rest is for the computation.
      scan.must_go = std::min(scan.must_go, item->enqueued + (item->lost - item->enqueued) / 2);
    }
    if (scan.rows == max_rows_) break;
  }
  return scan;
}

Decision DynamicPolicy::next(const RequestQueue& queue, TimePoint now) const {
  const Scan found = scan(queue);
  if (found.count == 0) return Decision::nothing();
  const bool overdue = delay_ > Duration::zero() && now >= found.delay_ends;
  if (found.preferred_count > 0 && !overdue) {
    const bool full = found.preferred_rows == max_rows_;
    return Decision::take(found.preferred_count,
                          full ? CloseReason::kFull : CloseReason::kPreferred);
  }
  if (found.rows == max_rows_) return Decision::take(found.count, CloseReason::kFull);
  if (found.nothing_can_join) return Decision::take(found.count, CloseReason::kNextNoFit);
  if (overdue) return Decision::take(found.count, CloseReason::kDelay);
  if (found.rows >= preferred_.back()) return Decision::take(found.count, CloseReason::kPreferred);
  if (delay_ == Duration::zero()) return Decision::take(found.count, CloseReason::kIdle);
  if (now >= found.must_go) return Decision::take(found.count, CloseReason::kDeadline);
  return Decision::wait(std::min(found.delay_ends, found.must_go));
}

std::unique_ptr<BatchPolicy> make_policy(const config::ModelConfig& config) {
  if (config.dynamic_batching) return std::make_unique<DynamicPolicy>(config);
  return std::make_unique<FifoPolicy>();
}

}  // namespace proa::core
