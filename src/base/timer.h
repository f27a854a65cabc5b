#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"

namespace proa {

// Calls functions at a point in time. Schedulers, gates and sequence slots ask for their next
// wake-up here, so that time-outs fire whether or not anybody is free to serve the request.
// Threading: thread-safe.
class Timer {
 public:
  using Id = std::uint64_t;
  using Callback = std::move_only_function<void()>;

  virtual ~Timer() = default;

  // Calls `callback` once, at `when` or soon after. The callback must be short and must not block;
  // it may call schedule() and cancel() itself.
  virtual Id schedule(TimePoint when, Callback callback) = 0;

  // Takes a callback back. True when it will never run; false when it has run, is running or was
  // never scheduled. Does not wait for a running callback.
  virtual bool cancel(Id id) = 0;
};

// A Timer with a thread of its own ("proa-timer"). The destructor drops what has not fired and
// waits for a running callback.
class TimerThread final : public Timer {
 public:
  explicit TimerThread(const Clock& clock = steady_clock());
  ~TimerThread() override;

  Id schedule(TimePoint when, Callback callback) override PROA_EXCLUDES(mutex_);
  bool cancel(Id id) override PROA_EXCLUDES(mutex_);

 private:
  struct Entry {
    Id id;
    Callback callback;
  };
  using Queue = std::multimap<TimePoint, Entry>;

  void run() PROA_EXCLUDES(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  CondVar changed_;
  Queue queue_ PROA_GUARDED_BY(mutex_);
  std::unordered_map<Id, Queue::iterator> by_id_ PROA_GUARDED_BY(mutex_);
  Id next_id_ PROA_GUARDED_BY(mutex_) = 1;
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace proa
