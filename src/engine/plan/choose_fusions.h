#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "engine/plan/plan.h"

namespace proa::engine {

// Of what was not timed: a step that only its plain kernel can compute, a fusion without a kernel.
constexpr float kUntimed = std::numeric_limits<float>::infinity();

// Those of the plan's fusions, at most one for each step, that make its run shortest: by step, the
// index into Plan::fusions. The times are in microseconds, of plan.steps and of plan.fusions. Where
// nothing is lost a fusion is taken, and no step is left untimed that a fusion can have.
std::vector<std::optional<std::size_t>> choose_fusions(const Plan& plan,
                                                       std::span<const float> step_times,
                                                       std::span<const float> fusion_times);

}  // namespace proa::engine
