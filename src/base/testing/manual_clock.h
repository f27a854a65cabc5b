#pragma once

#include <atomic>

#include "base/clock.h"

namespace proa {

// A clock that stands still until the test moves it. It starts one hour after the epoch.
class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(Duration(now_.load())); }
  void advance(Duration by) { now_ += by.count(); }

 private:
  std::atomic<Duration::rep> now_ = Duration(std::chrono::hours(1)).count();
};

}  // namespace proa
