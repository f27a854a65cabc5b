#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>

#include "base/mutex.h"
#include "net/exchange.h"

namespace proa::frontends {

// Tells calls that would never end by themselves (Watch, idle infer streams) that the server is
// about to stop.
// Threading: thread-safe.
class ShutdownSignal {
 public:
  using Id = std::uint64_t;
  using Callback = std::function<void(net::Exchange&)>;

  // `callback` runs once, on the exchange's loop while it is open, when the shutdown begins; at
  // once when it has begun.
  Id subscribe(net::ExchangeRef exchange, Callback callback) PROA_EXCLUDES(mutex_);
  void unsubscribe(Id id) PROA_EXCLUDES(mutex_);

  void begin() PROA_EXCLUDES(mutex_);
  bool begun() const { return begun_.load(std::memory_order_acquire); }

 private:
  struct Subscriber {
    net::ExchangeRef exchange;
    Callback callback;
  };

  std::atomic<bool> begun_ = false;
  Mutex mutex_;
  std::map<Id, Subscriber> subscribers_ PROA_GUARDED_BY(mutex_);
  Id next_id_ PROA_GUARDED_BY(mutex_) = 1;
};

}  // namespace proa::frontends
