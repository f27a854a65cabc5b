#pragma once

#include <map>
#include <utility>

#include "base/testing/manual_clock.h"
#include "base/timer.h"

namespace proa {

// A Timer that fires only when the test advances its clock, on the test's own thread.
// Threading: confined to the test's thread.
class ManualTimer final : public Timer {
 public:
  explicit ManualTimer(ManualClock& clock) : clock_(clock) {}

  Id schedule(TimePoint when, Callback callback) override {
    queue_.emplace(std::pair(when, next_id_), std::move(callback));
    return next_id_++;
  }

  bool cancel(Id id) override {
    return std::erase_if(queue_, [id](const auto& item) { return item.first.second == id; }) > 0;
  }

  // Moves the clock and runs what has become due, in order of time.
  void advance(Duration by) {
    clock_.advance(by);
    while (!queue_.empty() && queue_.begin()->first.first <= clock_.now()) {
      Callback callback = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      callback();
    }
  }

  std::size_t pending() const { return queue_.size(); }

 private:
  ManualClock& clock_;
  std::map<std::pair<TimePoint, Id>, Callback> queue_;
  Id next_id_ = 1;
};

}  // namespace proa
