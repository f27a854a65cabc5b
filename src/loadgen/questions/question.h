#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "loadgen/measure/stability.h"
#include "loadgen/run/pass_runner.h"
#include "loadgen/run_result.h"
#include "loadgen/schedules/schedule.h"

namespace proa::loadgen {

// A question runs passes, one after the other, and draws a conclusion. It knows neither clocks nor
// servers, so that tests answer it with a model of one.

// Runs one pass; null verdict = until it has settled. Errors end the question.
using RunPass = std::function<Result<Pass>(const Load&, const PassVerdict&)>;

// The bound on latency that a question is about.
struct LatencyBound {
  Duration bound{0};
  std::optional<double> percentile;  // nothing: the mean
};

// Whether the pass's used windows keep the bound, with no more than 1 % of requests failing.
bool keeps(const Pass& pass, const LatencyBound& bound);

}  // namespace proa::loadgen
