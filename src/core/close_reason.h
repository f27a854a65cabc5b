#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proa::core {

// Why a batch was closed and not held back for more requests (docs/scheduling.md).
enum class CloseReason : std::uint8_t {
  kFull,       // max_batch_size reached; every batch of a model that does not batch
  kPreferred,  // a preferred size was reached
  kDelay,      // its oldest request waited max_queue_delay
  kNextNoFit,  // the next request is too large for the rest, has other shapes or inputs, or would
               // find the queue full
  kDeadline,   // a request in it would run out of time
  kIdle,       // no delay is configured and an instance was free
};
inline constexpr std::size_t kCloseReasons = 6;

// "full", "preferred", "delay", "next_does_not_fit", "deadline", "idle".
std::string_view close_reason_name(CloseReason reason);

}  // namespace proa::core
