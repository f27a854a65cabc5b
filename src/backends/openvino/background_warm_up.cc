#include "backends/openvino/background_warm_up.h"

#include "base/log.h"
#include "base/thread.h"

namespace proa::backends::openvino {

BackgroundWarmUp::BackgroundWarmUp(std::unique_ptr<WarmUp> warm_up, std::vector<std::int64_t> sizes)
    : warm_up_(std::move(warm_up)), sizes_(std::move(sizes)), idle_since_(steady_clock().now()) {
  auto thread = try_start_thread("proa-warm-up", [this] { run(); });
  if (thread) {
    thread_ = *std::move(thread);
    return;
  }
  log::warn("batch sizes are not warmed in the background: {}", thread.error().message);
  warm_up_.reset();
  finished_.store(true, std::memory_order_release);
}

BackgroundWarmUp::~BackgroundWarmUp() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BackgroundWarmUp::begin_request() {
  MutexLock lock(mutex_);
  ++busy_;
}

void BackgroundWarmUp::end_request() {
  {
    MutexLock lock(mutex_);
    --busy_;
    idle_since_ = steady_clock().now();
  }
  changed_.notify_all();
}

bool BackgroundWarmUp::wait_for_idle() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const TimePoint ready = idle_since_ + kIdle;
    if (busy_ > 0) {
      changed_.wait(mutex_);
    } else if (steady_clock().now() < ready) {
      changed_.wait_until(mutex_, ready);
    } else {
      return true;
    }
  }
  return false;
}

void BackgroundWarmUp::run() {
  for (const std::int64_t size : sizes_) {
    if (!wait_for_idle()) break;
    const Status status = warm_up_->run(size);
    if (!status) log::debug("warm-up of batch size {}: {}", size, status.error().message);
  }
  warm_up_.reset();
  finished_.store(true, std::memory_order_release);
}

}  // namespace proa::backends::openvino
