#pragma once

#include <string>

#include "proto/bench_report.pb.h"

namespace proa::loadgen {

// The report as one HTML file that needs nothing else: the report as JSON, a style and a script
// that draws it (report/page/), and the text for readers without scripts.
std::string html_report(const bench::BenchReport& report);

}  // namespace proa::loadgen
