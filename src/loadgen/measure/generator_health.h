#pragma once

#include "loadgen/measure/slice.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

// What the used windows say about the generator.
struct GeneratorEvidence {
  const Slice& sum;
  Duration measured;
  bool open_loop;
  double asked;  // requests that were due
  const LatencyHistogram& latency;
};

// Fills in the shares and rates, and whether the generator was at its own limit, with the reason.
// It was when
// - a closed loop kept one of its threads busy for 95 % of the time,
// - an open loop sent less than 99.5 % of what was due, or sent more than 1 % of the requests later
//   than `late_bound` with a p99 of that delay above a tenth of the latency's.
// `threads` and `late_bound` of `health` are given.
void judge_generator(const GeneratorEvidence& evidence, GeneratorHealth& health);

}  // namespace proa::loadgen
