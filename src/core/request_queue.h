#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "boost/intrusive/list.hpp"
#include "config/model_config.h"
#include "core/expiry_heap.h"
#include "core/request.h"

namespace proa::core {

// A request that waits for an instance. `expires` is the earlier of its queue time-out and its
// deadline.
struct QueuedRequest : Expiring, boost::intrusive::list_base_hook<> {
  std::unique_ptr<Request> request;
  TimePoint enqueued = kNever;
  // When it ends without an answer of the model: its deadline, or a time-out that rejects.
  TimePoint lost = kNever;
  std::uint64_t level = 0;
  bool delayed = false;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
};

// The requests of one model that wait, in the order in which they are served: by priority level (1
// first), within a level those in time before those whose time-out put them back (TimeoutAction
// kDelay), each in order of arrival. Knows the queue policies; decides nothing about batches.
// Threading: needs its owner's mutex.
class RequestQueue {
 public:
  // Names a queued request for as long as it waits, and nothing afterwards.
  using Ticket = std::uint64_t;

  // A request that ran out of time.
  struct Expired {
    std::unique_ptr<Request> request;
    bool deadline = false;  // its own deadline has passed; otherwise its queue time-out
  };

  // The default has one level, no bound and no time-outs; deadlines count always.
  explicit RequestQueue(config::DynamicBatching batching = {}) : batching_(std::move(batching)) {}

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // False when the queue of the request's level is at its max_queue_size.
  bool has_room(const Request& request) const { return !is_full(level_of(request)); }
  bool is_full(std::uint64_t level) const;
  Ticket push(std::unique_ptr<Request> request, TimePoint now);

  // The queued requests in serving order; null = no more.
  const QueuedRequest* first() const;
  const QueuedRequest* next(const QueuedRequest& item) const;
  // Null when it has left the queue.
  const QueuedRequest* find(Ticket ticket) const;

  // Removes the first `count` requests.
  std::vector<std::unique_ptr<Request>> take(std::size_t count);
  // Removes one request; null when it has left the queue already.
  std::unique_ptr<Request> remove(Ticket ticket);
  // Removes the requests whose time is up at `now`, and puts back those that are only delayed.
  std::vector<Expired> expire(TimePoint now);
  // When expire() will have work; kNever = not as it stands.
  TimePoint next_expiry() const { return expiries_.empty() ? kNever : expiries_.first().expires; }

 private:
  using List = boost::intrusive::list<QueuedRequest>;
  struct Level {
    List fresh;
    List delayed;
    std::size_t size() const { return fresh.size() + delayed.size(); }
  };

  std::uint64_t level_of(const Request& request) const;
  const config::QueuePolicy& policy_of(std::uint64_t level) const;
  QueuedRequest& new_item();
  std::unique_ptr<Request> unlink(QueuedRequest& item);
  void put_back(QueuedRequest& item);

  const config::DynamicBatching batching_;
  std::deque<QueuedRequest> items_;  // never shrinks; free ones are reused
  std::map<std::uint64_t, Level> levels_;
  std::vector<std::uint32_t> free_items_;
  ExpiryHeap expiries_;
  std::size_t size_ = 0;
};

// True when both requests can be rows of one batch: the same inputs are present, with the same
// shapes apart from the batch dimension.
bool can_share_batch(const Request& a, const Request& b);

}  // namespace proa::core
