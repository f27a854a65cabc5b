#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

// Which reports are asked for. An empty path: none.
struct ReportOptions {
  std::filesystem::path csv;             // -f
  bool verbose_csv = false;              // --verbose-csv
  std::filesystem::path json;            // --json
  std::filesystem::path html;            // --html
  std::filesystem::path profile_export;  // --profile-export-file
  std::filesystem::path compare;         // --compare: a report that --json wrote before
  double max_regression_percent = 5;     // --max-regression
};

// Before a run: what can be known to fail afterwards fails now. The old report is readable, and
// every file's folder exists.
// Errors: kNotFound, kInvalidArgument naming flag and path.
Status check_report_options(const ReportOptions& options);

struct ReportOutcome {
  std::string text;         // for standard output: summary, comparison, and what was written where
  bool regression = false;  // --compare found one
  // The first failure: kInternal naming a path that could not be written, or kFailedPrecondition
  // when there was nothing to compare.
  Status status;
};

// Writes the files. One that cannot be written does not keep the others from being written.
ReportOutcome write_reports(const RunResult& run, const ReportOptions& options);

}  // namespace proa::loadgen
