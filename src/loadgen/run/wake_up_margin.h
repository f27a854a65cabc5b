#pragma once

#include <algorithm>

#include "base/clock.h"

namespace proa::loadgen {

// How much earlier than it wants to be awake a thread must end its sleep: twice what its sleeps
// have lasted too long of late, or so much that 199 of 200 end in time, whichever is more. A few
// microseconds on a machine of one's own, some fifty where a host must first run the virtual
// processor again. Threading: a plain value.
class WakeUpMargin {
 public:
  // A sleep ended `late` after the moment that was asked for.
  void record(Duration late) {
    average_ += (std::min(late, kMost) - average_) / 8;
    const Duration step = late > seldom_more_ ? kRise : -kRise / 199;
    seldom_more_ = std::clamp(seldom_more_ + step, Duration(0), kMost);
  }
  Duration margin() const { return std::min(std::max(seldom_more_, 2 * average_), kMost); }

 private:
  // What is longer is not waking up but a busy machine; turning would only make it busier.
  static constexpr Duration kMost = std::chrono::microseconds(100);
  static constexpr Duration kRise = std::chrono::nanoseconds(9950);

  Duration average_{0};
  Duration seldom_more_{0};
};

}  // namespace proa::loadgen
