#pragma once

#include <deque>
#include <memory>

#include "base/mutex.h"
#include "core/request.h"

namespace proa::core {

// Lets responses leave in the order in which their requests came (`preserve_ordering`), whichever
// instance finishes first and whatever they say: errors wait for their turn too. Held by shared_ptr
// by the scheduler and by the sinks it made.
// Threading: thread-safe. Responses of one request keep their order.
class ResponseOrder : public std::enable_shared_from_this<ResponseOrder> {
 public:
  // Gives the request of `sink` the next place, and a sink that keeps it.
  std::unique_ptr<ResponseSink> wrap(std::unique_ptr<ResponseSink> sink) PROA_EXCLUDES(mutex_);

 private:
  class OrderedSink;
  struct Held {
    Response response;
    bool final = false;
  };
  struct Place {
    std::shared_ptr<ResponseSink> sink;
    std::deque<Held> held;  // came before its turn
  };

  void deliver(Place& place, Held answer) PROA_EXCLUDES(mutex_);

  Mutex mutex_;
  std::deque<std::unique_ptr<Place>> places_ PROA_GUARDED_BY(mutex_);
  bool sending_ PROA_GUARDED_BY(mutex_) = false;  // a thread is in deliver()'s loop
};

}  // namespace proa::core
