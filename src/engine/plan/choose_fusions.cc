#include "engine/plan/choose_fusions.h"

#include <algorithm>

#include "base/check.h"

namespace proa::engine {
namespace {

// Longer than any step, and sums of it keep the digits of the others.
constexpr double kVeryLong = 1e9;

double cost_of(float step_time) { return step_time == kUntimed ? kVeryLong : step_time; }

}  // namespace

std::vector<std::optional<std::size_t>> choose_fusions(const Plan& plan,
                                                       std::span<const float> step_times,
                                                       std::span<const float> fusion_times) {
  PROA_CHECK(step_times.size() == plan.steps.size() && fusion_times.size() == plan.fusions.size(),
             "a time for each step and fusion");
  PROA_CHECK(std::ranges::is_sorted(plan.fusions, {}, &Fusion::first),
             "fusions in the order of their first steps");
  // By step: the shortest way from there to the end.
  struct Way {
    double time = 0;
    std::optional<std::size_t> begins;  // with this fusion
  };
  std::vector<Way> ways(step_times.size() + 1);
  std::size_t later = fusion_times.size();
  for (std::size_t i = step_times.size(); i-- > 0;) {
    ways[i].time = cost_of(step_times[i]) + ways[i + 1].time;
    for (; later > 0 && plan.fusions[later - 1].first == i; --later) {
      const std::size_t index = later - 1;
      if (fusion_times[index] == kUntimed) continue;
      const double time = fusion_times[index] + ways[i + plan.fusions[index].count].time;
      if (time <= ways[i].time) ways[i] = {time, index};
    }
  }
  std::vector<std::optional<std::size_t>> by_step;
  while (by_step.size() < step_times.size()) {
    const std::optional<std::size_t> begins = ways[by_step.size()].begins;
    by_step.insert(by_step.end(), begins ? plan.fusions[*begins].count : 1, begins);
  }
  return by_step;
}

}  // namespace proa::engine
