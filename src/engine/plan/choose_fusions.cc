#include "engine/plan/choose_fusions.h"

#include <algorithm>

namespace proa::engine {
namespace {

// Longer than any step, and sums of it keep the digits of the others.
constexpr double kVeryLong = 1e9;

double cost_of(float step_time) { return step_time == kUntimed ? kVeryLong : step_time; }

}  // namespace

std::vector<std::optional<std::size_t>> choose_fusions(const Plan& plan,
                                                       std::span<const float> step_times,
                                                       std::span<const float> fusion_times) {
  const std::size_t count = plan.steps.size();
  // By step: the shortest time from there to the end, and the fusion that it begins with.
  std::vector<double> shortest(count + 1, 0);
  std::vector<std::optional<std::size_t>> begins(count);
  std::size_t later = plan.fusions.size();
  for (std::size_t i = count; i-- > 0;) {
    shortest[i] = cost_of(step_times[i]) + shortest[i + 1];
    for (; later > 0 && plan.fusions[later - 1].first == i; --later) {
      const std::size_t index = later - 1;
      if (fusion_times[index] == kUntimed) continue;
      const double time = fusion_times[index] + shortest[i + plan.fusions[index].count];
      if (time > shortest[i]) continue;
      shortest[i] = time;
      begins[i] = index;
    }
  }
  std::vector<std::optional<std::size_t>> by_step(count);
  for (std::size_t i = 0; i < count;) {
    const std::size_t parts = begins[i] ? plan.fusions[*begins[i]].count : 1;
    std::fill_n(by_step.begin() + static_cast<std::ptrdiff_t>(i), parts, begins[i]);
    i += parts;
  }
  return by_step;
}

}  // namespace proa::engine
