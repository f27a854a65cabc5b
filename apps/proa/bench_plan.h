#pragma once

#include <string_view>

#include "base/result.h"
#include "bench_options.h"
#include "bench_texts.h"
#include "loadgen/bench.h"
#include "loadgen/run_result.h"

namespace proa {

// What the flags of `proa bench` ask for. Pure functions of the options; files are the caller's.

// The plan without what is under load. `intervals` is the text of the --request-intervals file.
// Errors: kInvalidArgument naming the flags that do not go together, and why.
Result<loadgen::BenchPlan> make_bench_plan(const BenchOptions& options, std::string_view intervals);

// The settings for the report.
loadgen::RunSettings make_run_settings(const BenchOptions& options, const loadgen::BenchPlan& plan);

}  // namespace proa
