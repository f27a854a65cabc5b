#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "boost/asio/io_context.hpp"
#include "net/stats.h"

namespace proa::net {

// One thread's share of the network: an io_context, a mailbox for other threads, and the
// connections that have something to send. A connection belongs to one loop for life.
//
// Threading: post() and on_thread() from any thread; everything else on the loop's thread. Tasks
// still in the mailbox when the loop is destroyed are destroyed unrun. Must outlive whoever posts.
class EventLoop {
 public:
  // A thing to do on the loop's thread; the intrusive form of post().
  class Task {
   public:
    virtual ~Task() = default;
    virtual void run() = 0;

   private:
    friend class EventLoop;
    Task* next_ = nullptr;
  };

  // Something with output to write once the current event has been handled.
  class Flushable {
   public:
    virtual void flush() = 0;

   protected:
    ~Flushable() = default;

   private:
    friend class EventLoop;
    bool queued_ = false;
  };

  explicit EventLoop(int index = 0, const Clock& clock = steady_clock());
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Serves until stop(). The calling thread becomes the loop's thread.
  void run();
  // Runs what is ready and returns; the calling thread becomes the loop's thread. For tests.
  void poll();
  // Makes run() return soon. Any thread.
  void stop();

  // Runs `task` on the loop's thread, after those posted before by the same thread: one push onto a
  // lock-free list, and a wake-up when the loop may sleep.
  void post(std::unique_ptr<Task> task);
  template <class Function>
    requires std::is_invocable_v<Function&>
  void post(Function function) {
    struct Call final : Task {
      explicit Call(Function f) : function(std::move(f)) {}
      void run() override { function(); }
      Function function;
    };
    post(std::unique_ptr<Task>(std::make_unique<Call>(std::move(function))));
  }

  bool on_thread() const { return current_ == this; }
  int index() const { return index_; }
  TimePoint now() const { return clock_.now(); }

  // Calls `target.flush()` after the event now being handled, once however often it is marked.
  void mark_dirty(Flushable& target) {
    if (target.queued_) return;
    target.queued_ = true;
    dirty_.push_back(&target);
  }
  // Takes the mark back: `target` is about to go.
  void forget(Flushable& target);

  boost::asio::io_context& io() { return io_; }
  LoopStats& stats() { return stats_; }
  const LoopStats& stats() const { return stats_; }

  // The loop's own buffer for reads whose bytes are used up at once.
  static constexpr std::size_t kReadBufferBytes = 256 * 1024;
  std::byte* read_buffer() { return read_buffer_.get(); }

 private:
  struct Drain;
  void drain_mailbox();
  void flush_dirty();

  static thread_local EventLoop* current_;

  const int index_;
  const Clock& clock_;
  boost::asio::io_context io_;
  std::atomic<Task*> mailbox_ = nullptr;
  // Room for the one wake-up that may be under way, so that post() allocates nothing of its own.
  alignas(std::max_align_t) std::array<std::byte, 128> wake_storage_;
  std::vector<Flushable*> dirty_;
  std::unique_ptr<std::byte[]> read_buffer_;
  LoopStats stats_;
};

}  // namespace proa::net
