#pragma once

#include "base/clock.h"
#include "base/mutex.h"

namespace proa::loadgen {

// Holds the workers of a pass until all of them have their connections, then tells them the moment
// at which the pass starts.
// Threading: thread-safe.
class StartGate {
 public:
  // By each worker: it is prepared; waits for the start.
  TimePoint arrive() PROA_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    while (start_ == kNever) changed_.wait(mutex_);
    return start_;
  }

  // By whoever runs the pass: waits for `workers` of them, until `until` at most.
  void wait_for(int workers, TimePoint until) PROA_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (arrived_ < workers && steady_clock().now() < until) {
      changed_.wait_until(mutex_, until);
    }
  }
  void open(TimePoint start) PROA_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    start_ = start;
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  TimePoint start_ PROA_GUARDED_BY(mutex_) = kNever;
  int arrived_ PROA_GUARDED_BY(mutex_) = 0;
};

}  // namespace proa::loadgen
