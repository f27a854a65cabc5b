#pragma once

#include <string>
#include <vector>

#include "proto/bench_report.pb.h"

namespace proa::loadgen {

// Fills report.notes from its levels and models: what a reader must know before trusting a figure.
//   invalid  the figures do not tell about the server: the generator was the limit
//   warning  unstable levels with spread and likely reason, errors, an interruption, and what a
//            closed loop cannot see once an answer took much longer than the others
//   info     how many payloads differed; that a closed loop was used
// `warnings` come from the run itself. Worst first, then in the order of the levels.
void add_notes(const std::vector<std::string>& warnings, bench::BenchReport& report);

}  // namespace proa::loadgen
