#include "frontends/grpc/stream_credit.h"

#include <cstdint>
#include <utility>

namespace proa::frontends {

std::size_t StreamCredit::available() const {
  MutexLock lock(mutex_);
  return available_locked();
}

std::size_t StreamCredit::available_locked() const {
  if (closed_) return SIZE_MAX;
  const std::size_t waiting = queued_ + unsent_;
  return waiting < limit_ ? limit_ - waiting : 0;
}

void StreamCredit::when_available(Callback ready) {
  {
    MutexLock lock(mutex_);
    if (available_locked() == 0) {
      waiting_.push_back(std::move(ready));
      return;
    }
  }
  ready();
}

void StreamCredit::add_queued(std::size_t bytes) {
  MutexLock lock(mutex_);
  queued_ += bytes;
}

void StreamCredit::remove_queued(std::size_t bytes) {
  MutexLock lock(mutex_);
  queued_ -= bytes;
  wake(lock);
}

void StreamCredit::set_unsent(std::size_t bytes) {
  MutexLock lock(mutex_);
  unsent_ = bytes;
  wake(lock);
}

void StreamCredit::close() {
  MutexLock lock(mutex_);
  closed_ = true;
  wake(lock);
}

void StreamCredit::wake(MutexLock& lock) {
  if (waiting_.empty() || available_locked() == 0) return;
  std::vector<Callback> ready = std::exchange(waiting_, {});
  lock.unlock();
  for (Callback& callback : ready) callback();
  lock.lock();
}

}  // namespace proa::frontends
