#pragma once

#include <memory>
#include <utility>

#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// Open loop: requests are due when they are, whatever has come back. The worker takes every
// `stride`-th arrival, from the `first` on, so that workers together follow the one sequence.
class OpenLoop final : public Schedule {
 public:
  OpenLoop(std::unique_ptr<Arrivals> arrivals, TimePoint start, int first, int stride)
      : arrivals_(std::move(arrivals)), start_(start), stride_(stride) {
    advance(first + 1);
  }

  TimePoint next_due(TimePoint, std::size_t) override { return due_; }
  void take() override { advance(stride_); }

 private:
  void advance(int steps) {
    Duration next = Arrivals::kNone;
    for (int i = 0; i < steps; ++i) next = arrivals_->next();
    due_ = next == Arrivals::kNone ? kNever : start_ + next;
  }

  const std::unique_ptr<Arrivals> arrivals_;
  const TimePoint start_;
  const int stride_;
  TimePoint due_;
};

}  // namespace proa::loadgen
