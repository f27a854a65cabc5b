#pragma once

#include <string>

#include "loadgen/run_result.h"
#include "proto/bench_report.pb.h"

namespace proa::loadgen {

// The summary for a terminal: what was loaded with what, one block a level with where the time
// goes, a table of all levels, the answers to the questions asked, and the notes.
std::string text_report(const bench::BenchReport& report);

// "5.2 ms queue, 2.4 ms compute, 0.2 ms server overhead, 0.3 ms network and client"; the client's
// own parts where the server has no statistics.
std::string stages_text(const bench::Stages& stages);

// Microseconds for people: "8.12 ms", "950 us", "1.20 s".
std::string duration_text(double us);

// The line that is shown while a pass runs, without a line end.
std::string progress_line(const Progress& progress);

}  // namespace proa::loadgen
