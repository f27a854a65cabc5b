#pragma once

#include <random>
#include <string_view>
#include <vector>

#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// A rate that changes: ramps and steps, one stage after the other, then the end. Arrivals come
// whenever the rate, summed up since the start, has grown by the next step: by 1 each time, or by
// exponential steps of mean 1 for Poisson arrivals.
class Stages final : public Arrivals {
 public:
  enum class Steps : std::uint8_t { kEven, kExponential };

  Stages(std::vector<Stage> stages, Steps steps, std::uint64_t seed)
      : stages_(std::move(stages)), steps_(steps), random_(seed) {}

  Duration next() override;

 private:
  const std::vector<Stage> stages_;
  const Steps steps_;
  std::mt19937_64 random_;
  std::exponential_distribution<double> step_{1};
  std::size_t stage_ = 0;
  double stage_start_seconds_ = 0;
  double stage_start_count_ = 0;  // arrivals expected before this stage
  double wanted_ = 0;             // arrivals expected before the next one
  bool first_ = true;
};

// "100:10,100-500:20,500:10": 100 a second for ten seconds, then rising to 500 within twenty, ...
// Errors: kInvalidArgument naming the stage.
Result<std::vector<Stage>> parse_stages(std::string_view text);

}  // namespace proa::loadgen
