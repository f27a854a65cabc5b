#pragma once

#include <cstddef>

#include "base/clock.h"
#include "base/mutex.h"

namespace proa::net {

// Lets one thread wait until others have said so many times that they are done.
// Threading: thread-safe.
class Countdown {
 public:
  explicit Countdown(std::size_t count) : left_(count) {}

  void count_down() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (--left_ == 0) done_.notify_all();
  }
  void wait() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (left_ > 0) done_.wait(mutex_);
  }
  // False when `deadline` came first.
  bool wait_until(TimePoint deadline) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (left_ > 0) {
      if (steady_clock().now() >= deadline) return false;
      done_.wait_until(mutex_, deadline);
    }
    return true;
  }

 private:
  Mutex mutex_;
  CondVar done_;
  std::size_t left_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::net
