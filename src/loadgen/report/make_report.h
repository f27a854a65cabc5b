#pragma once

#include "loadgen/run_result.h"
#include "proto/bench_report.pb.h"

namespace proa::loadgen {

// The run as its report: every figure that is shown anywhere is worked out here, once. Text, CSV,
// HTML and JSON only print it. src/proto/bench_report.proto says what each field means.
bench::BenchReport make_report(const RunResult& run);

inline constexpr std::uint32_t kReportSchemaVersion = 1;

}  // namespace proa::loadgen
