#include "frontends/grpc/stream_credit.h"

#include <cstdint>
#include <utility>

namespace proa::frontends {
namespace {

void call_all(std::vector<StreamCredit::Callback>& callbacks) {
  for (StreamCredit::Callback& callback : callbacks) callback();
}

}  // namespace

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
  std::vector<Callback> ready;
  {
    MutexLock lock(mutex_);
    queued_ -= bytes;
    ready = take_ready_locked();
  }
  call_all(ready);
}

void StreamCredit::set_unsent(std::size_t bytes) {
  std::vector<Callback> ready;
  {
    MutexLock lock(mutex_);
    unsent_ = bytes;
    ready = take_ready_locked();
  }
  call_all(ready);
}

void StreamCredit::close() {
  std::vector<Callback> ready;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    ready = take_ready_locked();
  }
  call_all(ready);
}

std::vector<StreamCredit::Callback> StreamCredit::take_ready_locked() {
  if (waiting_.empty() || available_locked() == 0) return {};
  return std::exchange(waiting_, {});
}

}  // namespace proa::frontends
