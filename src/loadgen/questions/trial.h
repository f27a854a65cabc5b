#pragma once

#include <span>

#include "loadgen/questions/question.h"

namespace proa::loadgen {

// Of so many requests so many were beyond the bound.
struct TrialEvidence {
  double requests = 0;
  double above = 0;
};

// What a pass in open loop tells about a bound on a percentile of its latency. The first windows
// are left out: the queue is still filling.
struct TrialFigures {
  double requests = 0;  // 0: nothing is known yet
  double above = 0;     // beyond the bound, or failed
  // How they gather: the variance between windows of the number beyond the bound (or beyond the
  // pass's own percentile, where that is less), the same if each request were by itself, and how
  // many of them one cluster usually holds.
  double variance = 0;
  double independent = 0;
  double usual_cluster = 1;
  double usually_above = 0;  // in a window, where just what is allowed is beyond the bound
  double windows = 0;
  // The queue grows without end (see queue_growth()) and would break the bound within a minute, or
  // nothing is answered.
  bool hopeless = false;
};

TrialFigures weigh_trial(const Pass& pass, const LatencyBound& bound);

// Requests beyond a bound come in clusters, because one queue makes many late, and a cluster is one
// event: both numbers are divided by its size. The size is that of this trial and of `others` at
// about the same rate together: a trial that happened to see no cluster would take its requests for
// independent, one that saw a large one would hardly count. What is usual stands in where few were
// seen.
TrialEvidence evidence_of(const TrialFigures& trial, std::span<const TrialFigures> others);

struct TrialVerdict {
  enum class Outcome : std::uint8_t { kKeeps, kBreaks, kUnsure };
  Outcome outcome = Outcome::kUnsure;
  bool likely_keeps = false;
};

// Whether a pass by itself keeps the bound, with 99 % confidence. Unsure before the queue has
// filled.
TrialVerdict judge_trial(const Pass& pass, const LatencyBound& bound);

// How much faster requests come than they are answered: the growth of what is in flight, as a share
// of the rate; 0 when the growth is not significant, that is when a queue that neither grows nor
// shrinks but wanders by chance could look the same. `settled` is where the warm-up ends.
double queue_growth(const std::vector<SeriesPoint>& series, Duration settled, double rate);

}  // namespace proa::loadgen
