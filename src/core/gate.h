#pragma once

#include <cstddef>

namespace proa::core {

// Asked before an instance takes a batch: a rate limiter that shares resources between models, or a
// memory limit. A gate that refused calls Scheduler::gate_opened() when it is worth asking again.
//
// Threading: thread-safe. Called under the scheduler's lock, so it decides at once and calls
// nobody.
class Gate {
 public:
  virtual ~Gate() = default;
  // True: the instance takes a batch; leave() follows when it has finished.
  virtual bool try_enter(std::size_t instance) = 0;
  virtual void leave(std::size_t instance) = 0;
};

}  // namespace proa::core
