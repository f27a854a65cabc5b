#include "backends/openvino/background_warm_up.h"

#include "base/log.h"
#include "base/thread.h"

namespace proa::backends::openvino {

BackgroundWarmUp::BackgroundWarmUp(std::unique_ptr<WarmUp> warm_up, std::vector<std::int64_t> sizes)
    : sizes_(std::move(sizes)),
      idle_since_(steady_clock().now()),
      warm_up_(std::move(warm_up)),
      thread_(start_thread("proa-warm-up", [this] { run(); })) {}

BackgroundWarmUp::~BackgroundWarmUp() {
  std::shared_ptr<WarmUp> running;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    running = warm_up_;
  }
  changed_.notify_all();
  if (running) running->cancel();
  thread_.join();
}

void BackgroundWarmUp::make_way() {
  std::shared_ptr<WarmUp> running;
  {
    MutexLock lock(mutex_);
    ++busy_;
    if (running_) running = warm_up_;
  }
  if (running) running->cancel();
}

void BackgroundWarmUp::give_back() {
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
      running_ = true;
      return true;
    }
  }
  return false;
}

void BackgroundWarmUp::run() {
  std::shared_ptr<WarmUp> warm_up;
  {
    MutexLock lock(mutex_);
    warm_up = warm_up_;
  }
  for (std::size_t next = 0; next < sizes_.size() && wait_for_idle();) {
    const Status status = warm_up->run(sizes_[next]);
    {
      MutexLock lock(mutex_);
      running_ = false;
    }
    if (!status && status.error().code == ErrorCode::kCancelled) continue;
    if (!status) log::debug("warm-up of batch size {}: {}", sizes_[next], status.error().message);
    ++next;
  }
  {
    MutexLock lock(mutex_);
    warm_up_.reset();
  }
  finished_.store(true, std::memory_order_release);
}

}  // namespace proa::backends::openvino
