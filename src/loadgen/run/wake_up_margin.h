#pragma once

#include <algorithm>

#include "base/clock.h"

namespace proa::loadgen {

// How much earlier than it wants to be awake a thread must end its sleep: twice what its sleeps
// have lasted too long of late. A few microseconds on a machine of one's own, some fifty where a
// host must first run the virtual processor again. Threading: a plain value.
class WakeUpMargin {
 public:
  // A sleep ended `late` after the moment that was asked for.
  void record(Duration late) { average_ += (std::min(late, kMost) - average_) / 8; }
  Duration margin() const { return std::min(2 * average_, kMost); }

 private:
  // What is longer is not waking up but a busy machine; turning would only make it busier.
  static constexpr Duration kMost = std::chrono::microseconds(100);

  Duration average_{0};
};

}  // namespace proa::loadgen
