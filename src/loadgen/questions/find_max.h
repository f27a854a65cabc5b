#pragma once

#include "loadgen/questions/question.h"

namespace proa::loadgen {

struct FindMaxOptions {
  LatencyBound bound;
  double first_rate = 0;      // where the search begins; 0: with what one request in flight gives
  double highest_rate = 1e6;  // where it ends
  double precision = 0.01;    // of the answer
  bool poisson = false;       // arrivals; else evenly spaced
  double overload = 1.5;      // times the answer, for the goodput; 0: no such pass
  std::uint64_t seed = 1;
};

// The highest rate in open loop that keeps the bound. Without a first rate one request at a time
// shows where to begin (or that nothing keeps the bound). Doubles the rate until it breaks. Then
// every trial is at the best guess so far (MaximumEstimate) and all count together, until the
// answer is known to 2.5 times `precision` with 90 % probability and three trials were within
// `precision` of it, or the trials have had 400 windows. Then one pass beyond it, which goodput
// comes from. Stops, and says why, when nothing at all is answered before any rate has kept the
// bound. Appends to `passes` all that were run. Errors: those of `run`.
Result<FindMaxResult> find_max(const FindMaxOptions& options, const RunPass& run,
                               std::vector<Pass>& passes);

}  // namespace proa::loadgen
