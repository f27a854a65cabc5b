#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// Another schedule, for so many requests.
class Limit final : public Schedule {
 public:
  Limit(std::unique_ptr<Schedule> schedule, std::uint64_t requests)
      : schedule_(std::move(schedule)), left_(requests) {}

  TimePoint next_due(TimePoint now, std::size_t in_flight) override {
    return left_ == 0 ? kNever : schedule_->next_due(now, in_flight);
  }
  void take() override {
    --left_;
    schedule_->take();
  }

 private:
  const std::unique_ptr<Schedule> schedule_;
  std::uint64_t left_;
};

}  // namespace proa::loadgen
