#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "proto/bench_report.pb.h"

namespace proa::loadgen {

// Two runs side by side.

// A report that --json wrote. Errors: kInvalidArgument with the place, or when its schema_version
// is not the one that this program writes.
Result<bench::BenchReport> read_report(std::string_view json);

struct CompareOptions {
  // A figure that is worse by more than this is a regression ...
  double max_regression_percent = 5;
  // ... when at least so sure.
  double confidence = 0.95;
};

struct Comparison {
  std::string text;
  bool regression = false;
};

// Compares throughput (closed loop), p50, p99 and the chosen percentile of every load level that
// both runs have, the share of failed requests, and the answers to --find-max. The windows of each
// level are the samples; how sure a difference is comes from Welch's t-test over them, so a level
// with fewer than two windows proves nothing.
// Errors: kFailedPrecondition when the runs have no valid level in common.
Result<Comparison> compare_reports(const bench::BenchReport& old_run,
                                   const bench::BenchReport& new_run,
                                   const CompareOptions& options);

// How sure it is (0..1, two-sided) that the two samples come from different means.
// Source: B. L. Welch, Biometrika 34 (1947).
double welch_confidence(std::span<const double> a, std::span<const double> b);

}  // namespace proa::loadgen
