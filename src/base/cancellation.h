#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "base/mutex.h"

namespace proa {

// Tells work that nobody waits for its result any more: the client went away, or gRPC cancelled.
// The waiting side calls cancel(); the working side polls cancelled(), and whoever holds the work
// at the moment registers one function that lets go of it at once.
//
// Threading: thread-safe. Owned by shared_ptr, by both sides.
class CancellationToken {
 public:
  using Callback = std::move_only_function<void()>;

  // Only the first call has an effect. Runs the registered function on this thread, under no lock.
  void cancel() PROA_EXCLUDES(mutex_) {
    Callback callback;
    {
      MutexLock lock(mutex_);
      if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
      callback = std::move(callback_);
    }
    if (callback) callback();
  }

  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  // Registers the function that cancel() calls, in place of an earlier one; calls it at once when
  // the token is cancelled already. cancel() may run it at any later moment, so it must find by
  // itself what it is to let go of (a weak_ptr and a key), and do nothing when that is gone.
  void on_cancel(Callback callback) PROA_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (!cancelled_.load(std::memory_order_relaxed)) {
        std::swap(callback_, callback);
        return;
      }
    }
    callback();
  }

 private:
  std::atomic<bool> cancelled_ = false;
  Mutex mutex_;
  Callback callback_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa
