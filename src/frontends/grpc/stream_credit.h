#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/mutex.h"

namespace proa::frontends {

// How many more bytes of answers one stream's client is ready to take: shared by the stream and the
// sinks of its requests, so that models with many responses wait for slow readers.
// Threading: thread-safe. Callbacks run under no lock.
class StreamCredit {
 public:
  using Callback = std::move_only_function<void()>;

  explicit StreamCredit(std::size_t limit_bytes) : limit_(limit_bytes) {}

  // 0 while answers of `limit_bytes` or more wait; unlimited once closed.
  std::size_t available() const PROA_EXCLUDES(mutex_);
  // Calls `ready` once: now or as soon as available() is positive.
  void when_available(Callback ready) PROA_EXCLUDES(mutex_);

  // A sink has an answer of `bytes`; the stream will see it later.
  void add_queued(std::size_t bytes) PROA_EXCLUDES(mutex_);
  // The stream has given an answer to the exchange, or dropped it.
  void remove_queued(std::size_t bytes) PROA_EXCLUDES(mutex_);
  // What the exchange has not sent yet.
  void set_unsent(std::size_t bytes) PROA_EXCLUDES(mutex_);
  // Nobody listens any more.
  void close() PROA_EXCLUDES(mutex_);

 private:
  std::size_t available_locked() const PROA_REQUIRES(mutex_);
  // Those who waited for what there is now; the caller calls them without the lock.
  std::vector<Callback> take_ready_locked() PROA_REQUIRES(mutex_);

  const std::size_t limit_;
  mutable Mutex mutex_;
  std::size_t queued_ PROA_GUARDED_BY(mutex_) = 0;
  std::size_t unsent_ PROA_GUARDED_BY(mutex_) = 0;
  bool closed_ PROA_GUARDED_BY(mutex_) = false;
  std::vector<Callback> waiting_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::frontends
