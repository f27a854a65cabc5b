#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "base/clock.h"

namespace proa::scripted {

// How long requests take.
struct Script {
  Duration service{0};
  Duration second_service{0};  // for `second_share` of the requests, by chance
  double second_share = 0;
  int slots = 0;  // how many are served at once; 0: all
  // No answer leaves during the last `stall` of every `stall_every`, counted from the first
  // request; what would have left then leaves at its end.
  Duration stall{0};
  Duration stall_every{0};
};

// Decides when each request is answered. Nothing is computed in between: capacity is made of
// waiting, slots / service requests a second, and does not depend on the processor.
// Threading: confined to one thread.
class Timeline {
 public:
  explicit Timeline(const Script& script)
      : script_(script), free_at_(static_cast<std::size_t>(script.slots)) {}

  // When the request that came at `now` is answered. `now` never goes back.
  TimePoint answer_at(TimePoint now);

 private:
  Duration draw_service();
  TimePoint after_stall(TimePoint at);

  Script script_;
  std::vector<TimePoint> free_at_;  // of each slot
  std::optional<TimePoint> first_;
  std::mt19937_64 random_{1};
};

}  // namespace proa::scripted
