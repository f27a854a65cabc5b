#pragma once

#include <atomic>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"

namespace proa::backends::python {

// How an instance's worker is, for readiness. Shared by the instance and its model.
// Threading: thread-safe.
class WorkerState {
 public:
  // Its process is there and has initialized.
  bool up() const { return up_.load(std::memory_order_acquire); }
  // Nothing when it is up, and is_ready() of model.py does not say otherwise.
  Status status() const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!status_ || says_ready_) return status_;
    return error::unavailable("is_ready() of model.py says that it is not");
  }

  void set(Status status) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    up_.store(status.has_value(), std::memory_order_release);
    status_ = std::move(status);
    says_ready_ = true;
  }
  void set_says_ready(bool ready) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    says_ready_ = ready;
  }

 private:
  std::atomic<bool> up_ = false;
  mutable Mutex mutex_;
  Status status_ PROA_GUARDED_BY(mutex_) = error::unavailable("it has not started");
  bool says_ready_ PROA_GUARDED_BY(mutex_) = true;
};

}  // namespace proa::backends::python
