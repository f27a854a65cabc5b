#pragma once

#include <atomic>

#include "base/mutex.h"
#include "base/result.h"

namespace proa::backends::cuda {

// Whether a GPU still works. A device that failed once (illegal address, uncorrectable memory
// error) answers every later call of this process with an error, so the first one decides for good.
// Threading: thread-safe.
class DeviceHealth {
 public:
  explicit DeviceHealth(int device) : device_(device) {}

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // kUnavailable with what the device said first and what to do.
  Status status() const PROA_EXCLUDES(mutex_);
  // Takes note of an error of the device; others (kUnavailable is the device's) change nothing.
  void report(const Error& error) PROA_EXCLUDES(mutex_);

 private:
  const int device_;
  std::atomic<bool> failed_ = false;
  mutable Mutex mutex_;
  Status status_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::cuda
