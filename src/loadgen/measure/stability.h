#pragma once

#include <optional>
#include <span>

#include "loadgen/run_result.h"

namespace proa::loadgen {

// When a pass has settled. Decisions are pure functions of the windows.

struct StabilityRule {
  double percentage = 10;            // how far a window may be from the mean of the last three
  std::optional<double> percentile;  // the latency that must settle; nothing: the mean
};

inline constexpr std::size_t kWindowsThatAgree = 3;

// The latency that the rule looks at.
Duration chosen_latency(const LatencyHistogram& latency, const StabilityRule& rule);

// Whether the last three windows agree in throughput and in the chosen latency, with their spread.
// `reason` stays kNone; explain() fills it in.
Stability judge_windows(std::span<const Window> windows, const StabilityRule& rule);

// What a pass knows when it ends without having settled.
struct Evidence {
  std::span<const Window> windows;
  const LatencyHistogram* latency = nullptr;  // of all windows but the first
  bool open_loop = false;
  bool saturated = false;         // the generator
  std::vector<double> in_flight;  // at the end of each window
  bool interrupted = false;
};

// The likely reason why the windows do not agree, in `stability`.
void explain(const Evidence& evidence, const StabilityRule& rule, Stability& stability);

// Whether latencies fall into two groups: more than 85 % of the variance of their logarithms lies
// between the groups, each of which holds 3 % at least.
// Source: N. Otsu, A threshold selection method from gray-level histograms, 1979.
bool is_bimodal(const LatencyHistogram& latency);

// Whether numbers keep rising (1) or falling (-1), or neither (0): four at least, and a straight
// line explains 80 % of their variance.
int trend(std::span<const double> values);

}  // namespace proa::loadgen
