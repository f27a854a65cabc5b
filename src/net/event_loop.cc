#include "net/event_loop.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/post.hpp"

namespace proa::net {
namespace {

// Hands out one fixed block. At most one wake-up is under way at a time, so one is enough.
template <class T>
class FixedAllocator {
 public:
  using value_type = T;

  explicit FixedAllocator(std::span<std::byte> storage) : storage_(storage) {}
  template <class U>
  FixedAllocator(const FixedAllocator<U>& other) : storage_(other.storage()) {}

  T* allocate(std::size_t count) {
    PROA_CHECK(count * sizeof(T) <= storage_.size(), "a wake-up must fit its storage");
    return reinterpret_cast<T*>(storage_.data());
  }
  void deallocate(T*, std::size_t) {}

  std::span<std::byte> storage() const { return storage_; }
  friend bool operator==(const FixedAllocator& a, const FixedAllocator& b) {
    return a.storage_.data() == b.storage_.data();
  }

 private:
  std::span<std::byte> storage_;
};

}  // namespace

thread_local EventLoop* EventLoop::current_ = nullptr;

// The wake-up itself: an asio handler whose memory is the loop's.
struct EventLoop::Drain {
  using allocator_type = FixedAllocator<std::byte>;

  allocator_type get_allocator() const { return allocator_type(std::span(loop->wake_storage_)); }
  void operator()() const { loop->drain_mailbox(); }

  EventLoop* loop;
};

EventLoop::EventLoop(int index, const Clock& clock)
    : index_(index),
      clock_(clock),
      io_(1),
      read_buffer_(std::make_unique_for_overwrite<std::byte[]>(kReadBufferBytes)) {}

EventLoop::~EventLoop() {
  for (Task* task = mailbox_.exchange(nullptr); task != nullptr;) {
    std::unique_ptr<Task> owned(task);
    task = task->next_;
  }
}

void EventLoop::run() {
  current_ = this;
  auto keep_running = boost::asio::make_work_guard(io_);
  while (io_.run_one() > 0) flush_dirty();
  current_ = nullptr;
}

void EventLoop::poll() {
  current_ = this;
  io_.restart();
  while (io_.poll_one() > 0) flush_dirty();
  flush_dirty();
}

void EventLoop::stop() { io_.stop(); }

void EventLoop::post(std::unique_ptr<Task> task) {
  Task* added = task.release();
  Task* head = mailbox_.load(std::memory_order_relaxed);
  do {
    added->next_ = head;
  } while (!mailbox_.compare_exchange_weak(head, added, std::memory_order_acq_rel,
                                           std::memory_order_relaxed));
  // Whoever finds the mailbox empty wakes the loop; the others' tasks are seen by that wake-up.
  if (head == nullptr) boost::asio::post(io_, Drain{this});
}

void EventLoop::drain_mailbox() {
  Task* newest = mailbox_.exchange(nullptr, std::memory_order_acq_rel);
  Task* oldest = nullptr;
  while (newest != nullptr) {
    Task* next = newest->next_;
    newest->next_ = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != nullptr) {
    std::unique_ptr<Task> task(oldest);
    oldest = oldest->next_;
    task->run();
  }
}

void EventLoop::flush_dirty() {
  // A flush may mark others (and grow the list), or forget them.
  for (std::size_t i = 0; i < dirty_.size(); ++i) {
    Flushable* target = dirty_[i];
    if (target == nullptr) continue;
    target->queued_ = false;
    target->flush();
  }
  dirty_.clear();
}

void EventLoop::forget(Flushable& target) {
  if (!target.queued_) return;
  target.queued_ = false;
  std::ranges::replace(dirty_, &target, nullptr);
}

}  // namespace proa::net
