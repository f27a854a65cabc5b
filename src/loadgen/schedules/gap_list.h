#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// Gaps as somebody recorded them, over and over.
class GapList final : public Arrivals {
 public:
  explicit GapList(std::vector<Duration> gaps) : gaps_(std::move(gaps)) {}

  Duration next() override {
    at_ += gaps_[index_];
    index_ = (index_ + 1) % gaps_.size();
    return at_;
  }

 private:
  const std::vector<Duration> gaps_;
  std::size_t index_ = 0;
  Duration at_{0};
};

// The file of --request-intervals: one gap in microseconds a line, at least one above 0.
// Errors: kInvalidArgument naming the line.
Result<std::vector<Duration>> parse_gaps(std::string_view text);

}  // namespace proa::loadgen
