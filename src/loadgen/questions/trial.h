#pragma once

#include "loadgen/questions/question.h"

namespace proa::loadgen {

// What a pass in open loop says about a bound on a percentile of its latency.
struct TrialVerdict {
  enum class Outcome : std::uint8_t { kKeeps, kBreaks, kUnsure };
  Outcome outcome = Outcome::kUnsure;
  double confidence = 0;  // of the outcome (for kUnsure: of the likelier one), 0.5..1
  bool likely_keeps = false;
  bool grows = false;  // the queue grows without end, whatever the latencies still are
};

// Requests above the bound, and failed ones, must be at most 100 - percentile percent. How sure
// that is follows from their number and from how it differs between windows, whichever says less
// (the first window is left out: it holds the warm-up). A queue that keeps growing breaks every
// bound sooner or later: it is a break when the growth would do so within a minute. Needs four
// windows; before, it is unsure.
TrialVerdict judge_trial(const Pass& pass, const LatencyBound& bound);

// How much faster requests come than they are answered: the growth of what is in flight, as a share
// of the rate; 0 when the growth is not significant. `settled` is where the warm-up ends.
double queue_growth(const std::vector<SeriesPoint>& series, Duration settled, double rate);

}  // namespace proa::loadgen
