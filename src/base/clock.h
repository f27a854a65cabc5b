#pragma once

#include <chrono>

namespace proa {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// "No deadline."
inline constexpr TimePoint kNever = TimePoint::max();

// Where time comes from. Code that decides by time takes a Clock or a TimePoint, so that tests
// drive it by hand (base/testing/manual_clock.h). Threading: thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

// The machine's monotonic clock; lives as long as the process.
const Clock& steady_clock();

// `timeout` after `now`, or kNever when that is beyond the clock's range.
constexpr TimePoint deadline_after(TimePoint now, Duration timeout) {
  return timeout > kNever - now ? kNever : now + timeout;
}

}  // namespace proa
