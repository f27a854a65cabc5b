#include "core/reaper.h"

#include <utility>

#include "base/thread.h"

namespace proa::core {

Reaper::Reaper(std::function<void()> afterwards) : afterwards_(std::move(afterwards)) {
  thread_ = start_thread("proa-reaper", [this] { run(); });
}

Reaper::~Reaper() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Reaper::expect() {
  MutexLock lock(mutex_);
  ++expected_;
}

void Reaper::destroy(Job job) {
  MutexLock lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_one();  // under the lock: afterwards the reaper itself may be gone
}

void Reaper::run() {
  MutexLock lock(mutex_);
  while (!stopping_ || expected_ > 0) {
    if (jobs_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    --expected_;
    if (!jobs_.empty() || afterwards_ == nullptr) continue;
    lock.unlock();
    afterwards_();
    lock.lock();
  }
}

}  // namespace proa::core
