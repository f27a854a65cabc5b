#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "proto/bench_report.pb.h"

namespace proa::loadgen {

struct CsvFile {
  std::filesystem::path path;
  std::string content;
};

// perf_analyzer's CSV: its columns in its order, times in whole microseconds, one row a level in
// rising order of Inferences/Second. Unstable levels are there; invalid ones and those without a
// single answer are not, because CSV has no place to say so. Each step of an ensemble has a file of
// its own beside `path`, NAME_vVERSION.FILE, with the client's own columns 0.
// `verbose`: --verbose-csv's further columns.
// Source: perf_analyzer 2.50's reports, field by field; tests/e2e/test_bench_report.py compares.
std::vector<CsvFile> csv_report(const bench::BenchReport& report, const std::filesystem::path& path,
                                bool verbose);

}  // namespace proa::loadgen
