#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "backends/openvino/warm_up.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace proa::backends::openvino {

// Warms the sizes that did not fit before READY, on a thread of its own ("proa-warm-up"), while the
// model is idle. A request that comes meanwhile cancels the running size (which stops within some
// milliseconds) and it is tried again when the model has been idle for kIdle.
//
// Threading: busy() and idle() are thread-safe. The destructor waits for the thread.
class BackgroundWarmUp {
 public:
  static constexpr auto kIdle = std::chrono::milliseconds(20);

  BackgroundWarmUp(std::unique_ptr<WarmUp> warm_up, std::vector<std::int64_t> sizes);
  ~BackgroundWarmUp();

  // Around every inference of a request. Costs one atomic load once everything is warm.
  void busy() {
    if (!finished_.load(std::memory_order_acquire)) make_way();
  }
  void idle() {
    if (!finished_.load(std::memory_order_acquire)) give_back();
  }
  bool finished() const { return finished_.load(std::memory_order_acquire); }

 private:
  void make_way() PROA_EXCLUDES(mutex_);
  void give_back() PROA_EXCLUDES(mutex_);
  void run() PROA_EXCLUDES(mutex_);
  // Waits until nothing has run for kIdle; false when it is time to stop.
  bool wait_for_idle() PROA_EXCLUDES(mutex_);

  std::vector<std::int64_t> sizes_;  // the thread's
  std::atomic<bool> finished_ = false;

  Mutex mutex_;
  CondVar changed_;
  int busy_ PROA_GUARDED_BY(mutex_) = 0;
  bool running_ PROA_GUARDED_BY(mutex_) = false;
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  TimePoint idle_since_ PROA_GUARDED_BY(mutex_);
  // run() by the thread, cancel() by anybody; gone when all is warm, with its memory.
  std::shared_ptr<WarmUp> warm_up_ PROA_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace proa::backends::openvino
