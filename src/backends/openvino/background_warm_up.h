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
// model is idle: each time after nothing has run for kIdle. A request that comes meanwhile waits
// for the size that is running, for one inference at most. (Cancelling that one would be quicker,
// but OpenVINO 2026.4 then keeps its shapes in the graph, and the next inference fails.)
//
// Threading: busy() and idle() are thread-safe. The destructor waits for the thread.
class BackgroundWarmUp {
 public:
  static constexpr auto kIdle = std::chrono::milliseconds(20);

  BackgroundWarmUp(std::unique_ptr<WarmUp> warm_up, std::vector<std::int64_t> sizes);
  ~BackgroundWarmUp();

  // Around every inference of a request. Costs one atomic load once everything is warm.
  void busy() {
    if (!finished_.load(std::memory_order_acquire)) begin_request();
  }
  void idle() {
    if (!finished_.load(std::memory_order_acquire)) end_request();
  }
  bool finished() const { return finished_.load(std::memory_order_acquire); }

 private:
  void begin_request() PROA_EXCLUDES(mutex_);
  void end_request() PROA_EXCLUDES(mutex_);
  void run() PROA_EXCLUDES(mutex_);
  // Waits until nothing has run for kIdle; false when it is time to stop.
  bool wait_for_idle() PROA_EXCLUDES(mutex_);

  std::unique_ptr<WarmUp> warm_up_;  // the thread's; gone, with its memory, when all is warm
  const std::vector<std::int64_t> sizes_;
  std::atomic<bool> finished_ = false;

  Mutex mutex_;
  CondVar changed_;
  int busy_ PROA_GUARDED_BY(mutex_) = 0;
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  TimePoint idle_since_ PROA_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace proa::backends::openvino
