#pragma once

#include <string>

#include "loadgen/run_result.h"

namespace proa::loadgen {

// perf_analyzer's --profile-export-file: every request of every pass with its instants, in
// nanoseconds since 1970. Only a run with RunSettings::keep_requests has them; failed requests are
// left out, as there. `timestamp` is when a request was sent; ours adds `due`.
// Source: perf_analyzer's documented profile export schema.
std::string profile_export(const RunResult& run);

}  // namespace proa::loadgen
