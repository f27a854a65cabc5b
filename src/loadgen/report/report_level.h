#pragma once

#include "loadgen/run_result.h"
#include "proto/bench_report.pb.h"

namespace proa::loadgen {

// One pass of `run` as a level of its report.
bench::Level make_level(const Pass& pass, const RunResult& run);

}  // namespace proa::loadgen
