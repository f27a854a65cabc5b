#include "base/timer.h"

#include <utility>

#include "base/thread.h"

namespace proa {

TimerThread::TimerThread(const Clock& clock) : clock_(clock) {
  thread_ = start_thread("proa-timer", [this] { run(); });
}

TimerThread::~TimerThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Timer::Id TimerThread::schedule(TimePoint when, Callback callback) {
  bool is_next = false;
  Id id = 0;
  {
    MutexLock lock(mutex_);
    id = next_id_++;
    auto position = queue_.emplace(when, Entry{id, std::move(callback)});
    by_id_.emplace(id, position);
    is_next = position == queue_.begin();
  }
  if (is_next) changed_.notify_one();
  return id;
}

bool TimerThread::cancel(Id id) {
  Callback dropped;  // destroyed after the lock is released: it may own anything
  MutexLock lock(mutex_);
  auto found = by_id_.find(id);
  if (found == by_id_.end()) return false;
  dropped = std::move(found->second->second.callback);
  queue_.erase(found->second);
  by_id_.erase(found);
  lock.unlock();
  return true;
}

void TimerThread::run() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (queue_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    auto first = queue_.begin();
    if (first->first > clock_.now()) {
      changed_.wait_until(mutex_, first->first);
      continue;
    }
    Callback callback = std::move(first->second.callback);
    by_id_.erase(first->second.id);
    queue_.erase(first);
    lock.unlock();
    callback();
    callback = nullptr;
    lock.lock();
  }
}

}  // namespace proa
