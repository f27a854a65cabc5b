#include "core/request_queue.h"

#include <algorithm>
#include <utility>

namespace proa::core {
namespace {

// The queue time-out that holds for the request; 0 = none. A request's own one counts where it is
// allowed and shorter, or the only one.
std::chrono::microseconds queue_timeout(const config::QueuePolicy& policy, const Request& request) {
  const auto standard = policy.default_timeout;
  if (!policy.allow_timeout_override || request.timeout.count() <= 0) return standard;
  return standard.count() == 0 ? request.timeout : std::min(standard, request.timeout);
}

}  // namespace

std::uint64_t RequestQueue::level_of(const Request& request) const {
  if (batching_.priority_levels == 0) return 0;
  const bool known = request.priority >= 1 && request.priority <= batching_.priority_levels;
  return known ? request.priority : batching_.default_priority_level;
}

const config::QueuePolicy& RequestQueue::policy_of(std::uint64_t level) const {
  const auto found = batching_.priority_queue_policies.find(level);
  return found == batching_.priority_queue_policies.end() ? batching_.default_queue_policy
                                                          : found->second;
}

bool RequestQueue::is_full(std::uint64_t level) const {
  const std::uint32_t limit = policy_of(level).max_queue_size;
  if (limit == 0) return false;
  const auto found = levels_.find(level);
  return found != levels_.end() && found->second.size() >= limit;
}

QueuedRequest& RequestQueue::new_item() {
  if (free_items_.empty()) {
    const auto slot = static_cast<std::uint32_t>(items_.size());
    items_.emplace_back().slot = slot;
    return items_.back();
  }
  QueuedRequest& item = items_[free_items_.back()];
  free_items_.pop_back();
  return item;
}

RequestQueue::Ticket RequestQueue::push(std::unique_ptr<Request> request, TimePoint now) {
  QueuedRequest& item = new_item();
  item.enqueued = now;
  item.level = level_of(*request);
  item.delayed = false;
  const config::QueuePolicy& policy = policy_of(item.level);
  const auto timeout = queue_timeout(policy, *request);
  const TimePoint times_out = timeout.count() == 0 ? kNever : deadline_after(now, timeout);
  const bool rejects = policy.timeout_action == config::QueuePolicy::TimeoutAction::kReject;
  item.expires = std::min(times_out, request->deadline);
  item.lost = rejects ? item.expires : request->deadline;
  item.request = std::move(request);
  levels_[item.level].fresh.push_back(item);
  if (item.expires != kNever) expiries_.insert(item);
  ++size_;
  return Ticket{item.generation} << 32 | item.slot;
}

const QueuedRequest* RequestQueue::first() const {
  for (const auto& [number, level] : levels_) {
    if (!level.fresh.empty()) return &level.fresh.front();
    if (!level.delayed.empty()) return &level.delayed.front();
  }
  return nullptr;
}

const QueuedRequest* RequestQueue::next(const QueuedRequest& item) const {
  auto level = levels_.find(item.level);
  const List& list = item.delayed ? level->second.delayed : level->second.fresh;
  const auto after = std::next(list.iterator_to(item));
  if (after != list.end()) return &*after;
  if (!item.delayed && !level->second.delayed.empty()) return &level->second.delayed.front();
  for (++level; level != levels_.end(); ++level) {
    if (!level->second.fresh.empty()) return &level->second.fresh.front();
    if (!level->second.delayed.empty()) return &level->second.delayed.front();
  }
  return nullptr;
}

const QueuedRequest* RequestQueue::find(Ticket ticket) const {
  const auto slot = static_cast<std::uint32_t>(ticket);
  if (slot >= items_.size()) return nullptr;
  const QueuedRequest& item = items_[slot];
  return item.request != nullptr && item.generation == ticket >> 32 ? &item : nullptr;
}

std::unique_ptr<Request> RequestQueue::unlink(QueuedRequest& item) {
  Level& level = levels_.find(item.level)->second;
  List& list = item.delayed ? level.delayed : level.fresh;
  list.erase(list.iterator_to(item));
  expiries_.remove(item);
  ++item.generation;
  free_items_.push_back(item.slot);
  --size_;
  return std::move(item.request);
}

std::vector<std::unique_ptr<Request>> RequestQueue::take(std::size_t count) {
  std::vector<std::unique_ptr<Request>> taken;
  taken.reserve(count);
  while (taken.size() < count) taken.push_back(unlink(items_[first()->slot]));
  return taken;
}

std::unique_ptr<Request> RequestQueue::remove(Ticket ticket) {
  const QueuedRequest* item = find(ticket);
  return item == nullptr ? nullptr : unlink(items_[item->slot]);
}

void RequestQueue::put_back(QueuedRequest& item) {
  Level& level = levels_.find(item.level)->second;
  level.fresh.erase(level.fresh.iterator_to(item));
  level.delayed.push_back(item);
  item.delayed = true;
  expiries_.remove(item);
  item.expires = item.request->deadline;
  if (item.expires != kNever) expiries_.insert(item);
}

std::vector<RequestQueue::Expired> RequestQueue::expire(TimePoint now) {
  std::vector<Expired> expired;
  while (next_expiry() <= now && next_expiry() != kNever) {
    auto& item = static_cast<QueuedRequest&>(expiries_.first());
    const bool deadline = item.request->deadline <= now;
    const bool put_back_only = !deadline && policy_of(item.level).timeout_action ==
                                                config::QueuePolicy::TimeoutAction::kDelay;
    if (put_back_only) {
      put_back(item);
    } else {
      expired.push_back({unlink(item), deadline});
    }
  }
  return expired;
}

bool can_share_batch(const Request& a, const Request& b) {
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    const Tensor& one = a.inputs[i];
    const Tensor& other = b.inputs[i];
    if (one.type != other.type || one.shape.rank() != other.shape.rank()) return false;
    for (std::size_t d = 1; d < one.shape.rank(); ++d) {
      if (one.shape[d] != other.shape[d]) return false;
    }
  }
  return true;
}

}  // namespace proa::core
