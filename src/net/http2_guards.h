#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "net/limits.h"

namespace proa::net {

// Decisions about clients that ask for more than they may. Pure: time comes as an argument.
// Threading: confined to one thread.

// A token bucket: `burst` at once, and `per_second` more each second.
class RateGuard {
 public:
  RateGuard(std::uint32_t burst, std::uint32_t per_second)
      : burst_(burst), per_second_(per_second), left_(burst) {}

  // Counts one event; false when it is one too many.
  bool take(TimePoint now) {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    left_ = std::min<double>(burst_, left_ + std::max(seconds, 0.0) * per_second_);
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double burst_, per_second_, left_;
  TimePoint last_{};
};

// Ping strikes: pings that come sooner than allowed after the one before, without data of ours in
// between. Source: https://github.com/grpc/proposal/blob/master/A8-client-side-keepalive.md,
// "Server Enforcement".
class PingGuard {
 public:
  explicit PingGuard(const Limits& limits)
      : interval_(limits.min_ping_interval),
        max_strikes_(limits.max_ping_strikes),
        permit_without_streams_(limits.permit_pings_without_streams) {}

  // A ping came; false when the client has earned its GOAWAY.
  bool take(TimePoint now, bool streams_open) {
    constexpr std::chrono::hours kWithoutStreams{2};
    const Duration interval =
        streams_open || permit_without_streams_ ? Duration(interval_) : Duration(kWithoutStreams);
    const bool too_soon = seen_ && now - last_ < interval;
    seen_ = true;
    last_ = now;
    if (too_soon) ++strikes_;
    return max_strikes_ == 0 || strikes_ <= max_strikes_;
  }

  // We sent headers or data: the client may well ping to measure the way.
  void on_data_sent() {
    seen_ = false;
    strikes_ = 0;
  }

 private:
  std::chrono::milliseconds interval_;
  std::uint32_t max_strikes_;
  bool permit_without_streams_;
  bool seen_ = false;
  TimePoint last_{};
  std::uint32_t strikes_ = 0;
};

}  // namespace proa::net
