#pragma once

#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// Closed loop: as many requests in flight as allowed, the next one as soon as an answer is there.
class ClosedLoop final : public Schedule {
 public:
  ClosedLoop(std::size_t in_flight, TimePoint start) : most_(in_flight), start_(start) {}

  TimePoint next_due(TimePoint now, std::size_t in_flight) override {
    if (in_flight >= most_) return kNever;
    return now < start_ ? start_ : now;
  }
  void take() override {}

 private:
  const std::size_t most_;
  const TimePoint start_;
};

}  // namespace proa::loadgen
