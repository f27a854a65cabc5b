#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "net/limits.h"

namespace proa::net {

// When a body is overdue that began at `started`, of which `received` bytes have come, the last at
// `last_byte`: body_timeout after that byte, or when it has fallen behind
// min_body_bytes_per_second. Pure.
inline TimePoint body_overdue_at(const Limits& limits, TimePoint started, std::uint64_t received,
                                 TimePoint last_byte) {
  if (limits.body_timeout.count() == 0) return kNever;
  const TimePoint next_byte = deadline_after(last_byte, limits.body_timeout);
  const std::uint64_t rate = limits.min_body_bytes_per_second;
  if (rate == 0) return next_byte;
  const std::chrono::seconds earned(received / rate);
  return std::min(next_byte, deadline_after(started, limits.body_timeout + earned));
}

}  // namespace proa::net
