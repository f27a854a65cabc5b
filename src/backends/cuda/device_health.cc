#include "backends/cuda/device_health.h"

#include "base/log.h"

namespace proa::backends::cuda {

Status DeviceHealth::status() const {
  if (!failed()) return {};
  MutexLock lock(mutex_);
  return status_;
}

void DeviceHealth::report(const Error& error) {
  if (error.code != ErrorCode::kUnavailable) return;
  {
    MutexLock lock(mutex_);
    if (!status_) return;
    status_ =
        error::unavailable("GPU {} failed and is out of use until the server is started again: {}",
                           device_, error.message);
    failed_.store(true, std::memory_order_release);
  }
  log::error("GPU {} failed, its instances are out of use: {}", device_, error.message);
}

}  // namespace proa::backends::cuda
