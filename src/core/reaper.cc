#include "core/reaper.h"

#include <utility>

#include "base/thread.h"

namespace proa::core {

Reaper::Reaper() {
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

void Reaper::post(Job job) {
  {
    MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Reaper::run() {
  MutexLock lock(mutex_);
  while (true) {
    if (jobs_.empty()) {
      if (stopping_) return;
      changed_.wait(mutex_);
      continue;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
}

}  // namespace proa::core
