#include "core/response_order.h"

#include <utility>

namespace proa::core {

class ResponseOrder::OrderedSink final : public ResponseSink {
 public:
  OrderedSink(std::shared_ptr<ResponseOrder> order, Place& place)
      : order_(std::move(order)), place_(place), sink_(place.sink) {}

  void send(Response response, bool final) override {
    order_->deliver(place_, Held{std::move(response), final});
  }
  std::size_t credit() const override { return sink_->credit(); }
  void when_credit(std::move_only_function<void()> ready) override {
    sink_->when_credit(std::move(ready));
  }

 private:
  const std::shared_ptr<ResponseOrder> order_;
  Place& place_;  // lives until the final response has left
  const std::shared_ptr<ResponseSink> sink_;
};

std::unique_ptr<ResponseSink> ResponseOrder::wrap(std::unique_ptr<ResponseSink> sink) {
  auto place = std::make_unique<Place>();
  place->sink = std::move(sink);
  auto ordered = std::make_unique<OrderedSink>(shared_from_this(), *place);
  MutexLock lock(mutex_);
  places_.push_back(std::move(place));
  return ordered;
}

void ResponseOrder::deliver(Place& place, Held answer) {
  MutexLock lock(mutex_);
  place.held.push_back(std::move(answer));
  if (sending_) return;
  sending_ = true;
  while (!places_.empty() && !places_.front()->held.empty()) {
    Place& first = *places_.front();
    Held next = std::move(first.held.front());
    first.held.pop_front();
    std::unique_ptr<Place> finished;
    if (next.final) {
      finished = std::move(places_.front());
      places_.pop_front();
    }
    lock.unlock();
    first.sink->send(std::move(next.response), next.final);
    finished.reset();
    lock.lock();
  }
  sending_ = false;
}

}  // namespace proa::core
