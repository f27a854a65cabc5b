#include "frontends/shutdown_signal.h"

#include <utility>

namespace proa::frontends {

ShutdownSignal::Id ShutdownSignal::subscribe(net::ExchangeRef exchange, Callback callback) {
  {
    MutexLock lock(mutex_);
    if (!begun()) {
      subscribers_.emplace(next_id_, Subscriber{std::move(exchange), std::move(callback)});
      return next_id_++;
    }
  }
  exchange.run(std::move(callback));
  return 0;
}

void ShutdownSignal::unsubscribe(Id id) {
  MutexLock lock(mutex_);
  subscribers_.erase(id);
}

void ShutdownSignal::begin() {
  std::map<Id, Subscriber> subscribers;
  {
    MutexLock lock(mutex_);
    begun_.store(true, std::memory_order_release);
    std::swap(subscribers, subscribers_);
  }
  for (auto& [id, subscriber] : subscribers) subscriber.exchange.run(subscriber.callback);
}

}  // namespace proa::frontends
