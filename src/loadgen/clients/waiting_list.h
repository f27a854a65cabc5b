#pragma once

#include <cstdint>
#include <deque>

#include "loadgen/clients/client.h"

namespace proa::loadgen {

// Requests that wait for a connection, in order. Any of them can be taken out without a search: an
// overloaded open loop leaves some hundred thousand, and all are given up at its end.
// Threading: a plain value; confined to the worker's thread.
class WaitingList {
 public:
  bool empty() const { return places_.empty(); }

  void push(Exchange& exchange) {
    places_.push_back(&exchange);
    exchange.place = first_ + places_.size() - 1;
  }

  // The one that has waited longest. Only when there is one.
  Exchange& take_front() {
    Exchange& exchange = *places_.front();
    remove(exchange);
    return exchange;
  }

  // False: it does not wait here.
  bool remove(Exchange& exchange) {
    if (exchange.place == 0) return false;
    places_[exchange.place - first_] = nullptr;
    exchange.place = 0;
    while (!places_.empty() && places_.front() == nullptr) {
      places_.pop_front();
      ++first_;
    }
    return true;
  }

 private:
  std::deque<Exchange*> places_;  // null: taken out; never the front
  std::uint64_t first_ = 1;       // the place of the front; 0 is no place
};

}  // namespace proa::loadgen
