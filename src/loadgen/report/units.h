#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace proa::loadgen {

inline double us(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

inline double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// A second; 0 for no time.
inline double rate(std::uint64_t count, Duration duration) {
  return duration.count() <= 0 ? 0 : static_cast<double>(count) / seconds(duration);
}

}  // namespace proa::loadgen
