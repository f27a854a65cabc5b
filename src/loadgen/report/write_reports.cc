#include "loadgen/report/write_reports.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "fmt/format.h"
#include "loadgen/report/compare.h"
#include "loadgen/report/csv.h"
#include "loadgen/report/html.h"
#include "loadgen/report/make_report.h"
#include "loadgen/report/profile_export.h"
#include "loadgen/report/text.h"
#include "proto/json.h"
#include "storage/local_folder.h"

namespace proa::loadgen {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxReportBytes = std::size_t{1} << 30;

Result<bench::BenchReport> read_old(const fs::path& path) {
  auto json = storage::read_file(path, kMaxReportBytes);
  if (!json) return with_context("--compare", std::move(json).error());
  auto report = read_report(*json);
  if (!report) {
    return with_context(fmt::format("--compare {}", path.string()), std::move(report).error());
  }
  return report;
}

Status check_place(const char* flag, const fs::path& path) {
  if (path.empty()) return {};
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return error::not_found("{} {}: there is no folder {}", flag, path.string(), folder.string());
  }
  if (fs::is_directory(path, ignored)) {
    return error::invalid_argument("{} {}: that is a folder; name a file", flag, path.string());
  }
  return {};
}

// Tries every file; keeps the first failure.
class Writer {
 public:
  void write(const char* what, const fs::path& path, const std::string& content) {
    if (path.empty()) return;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << content;
    file.close();
    if (!file) {
      fail(error::internal("{} could not be written to {}: {}", what, path.string(),
                           std::strerror(errno)));
      return;
    }
    text_ += fmt::format("{}: {}\n", what, path.string());
  }
  void fail(Error failure) {
    if (status_) status_ = std::move(failure);
  }
  const std::string& text() const { return text_; }
  Status take_status() { return std::move(status_); }

 private:
  std::string text_;
  Status status_;
};

}  // namespace

Status check_report_options(const ReportOptions& options) {
  PROA_TRY(check_place("-f", options.csv));
  PROA_TRY(check_place("--json", options.json));
  PROA_TRY(check_place("--html", options.html));
  PROA_TRY(check_place("--profile-export-file", options.profile_export));
  if (!options.compare.empty()) PROA_TRY(read_old(options.compare));
  return {};
}

ReportOutcome write_reports(const RunResult& run, const ReportOptions& options) {
  const bench::BenchReport report = make_report(run);
  ReportOutcome outcome;
  Writer writer;
  outcome.text = text_report(report);
  if (!options.compare.empty()) {
    // Read before --json may overwrite the same file.
    auto old_run = read_old(options.compare);
    auto comparison =
        old_run ? compare_reports(*old_run, report,
                                  {.max_regression_percent = options.max_regression_percent})
                : Result<Comparison>(old_run.error());
    if (comparison) {
      outcome.text += fmt::format("\n{}", comparison->text);
      outcome.regression = comparison->regression;
    } else {
      writer.fail(std::move(comparison).error());
    }
  }
  if (!options.csv.empty()) {
    for (const CsvFile& file : csv_report(report, options.csv, options.verbose_csv)) {
      writer.write("CSV", file.path, file.content);
    }
  }
  if (!options.json.empty()) writer.write("JSON", options.json, proto::to_json(report) + '\n');
  if (!options.html.empty()) writer.write("HTML", options.html, html_report(report));
  if (!options.profile_export.empty()) {
    writer.write("profile export", options.profile_export, profile_export(run));
  }
  if (!writer.text().empty()) outcome.text += fmt::format("\n{}", writer.text());
  outcome.status = writer.take_status();
  return outcome;
}

}  // namespace proa::loadgen
