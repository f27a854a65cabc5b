#include "timeline.h"

#include <algorithm>

namespace proa::scripted {

Duration Timeline::draw_service() {
  if (script_.second_share <= 0) return script_.service;
  const double draw = static_cast<double>(random_() >> 11) * 0x1p-53;
  return draw < script_.second_share ? script_.second_service : script_.service;
}

TimePoint Timeline::after_stall(TimePoint at) {
  if (script_.stall.count() <= 0) return at;
  const Duration into = (at - *first_) % script_.stall_every;
  return into < script_.stall_every - script_.stall ? at : at + (script_.stall_every - into);
}

TimePoint Timeline::answer_at(TimePoint now) {
  if (!first_) first_ = now;
  if (free_at_.empty()) return after_stall(now + draw_service());
  TimePoint& slot = *std::ranges::min_element(free_at_);
  slot = after_stall(std::max(now, slot) + draw_service());
  return slot;
}

}  // namespace proa::scripted
