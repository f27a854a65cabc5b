#include "bench.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "bench_plan.h"
#include "bench_target.h"
#include "fmt/format.h"
#include "loadgen/bench.h"
#include "loadgen/report/text.h"
#include "loadgen/report/write_reports.h"
#include "storage/local_folder.h"

namespace proa {
namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;
constexpr int kNotStable = 3;
constexpr int kRegression = 4;
constexpr std::size_t kMaxIntervalsBytes = 256 << 20;

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// The first Ctrl-C ends the load, the second one the process.
void on_signal(int) {
  stop_requested.store(true);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int fail(const Error& error, int status) {
  fmt::print(stderr, "proa bench: {}\n", error.message);
  return status;
}

// A connection is a descriptor: as many as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// The live line, where somebody looks at it.
loadgen::BenchHooks make_hooks() {
  loadgen::BenchHooks hooks;
  if (::isatty(STDERR_FILENO) == 0) return hooks;
  hooks.progress = [](const loadgen::Progress& progress) {
    fmt::print(stderr, "\r\033[K{}", loadgen::progress_line(progress));
    std::fflush(stderr);
  };
  hooks.pass_ended = [](const loadgen::Pass&) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  };
  return hooks;
}

loadgen::ReportOptions make_report_options(const BenchOptions& options) {
  loadgen::ReportOptions reports;
  reports.csv = options.csv;
  reports.verbose_csv = options.verbose_csv;
  reports.json = options.json;
  reports.html = options.html;
  reports.profile_export = options.profile_export;
  reports.compare = options.compare;
  reports.max_regression_percent = options.max_regression;
  return reports;
}

Result<std::string> read_intervals(const BenchOptions& options) {
  if (options.request_intervals.empty()) return std::string();
  return storage::read_file(options.request_intervals, kMaxIntervalsBytes);
}

// Errors count in trials too, except beyond what the server can do.
int exit_status(const loadgen::RunResult& result) {
  if (result.passes.empty()) return kFailed;
  if (result.find_max) return result.find_max->found ? 0 : kNotStable;
  const auto any = [&](auto holds) { return std::ranges::any_of(result.passes, holds); };
  if (any([](const loadgen::Pass& pass) { return !pass.errors.empty(); })) return kFailed;
  const bool unsure =
      any([](const loadgen::Pass& pass) { return !pass.stability.stable || !pass.valid; });
  return unsure || result.unanswered ? kNotStable : 0;
}

int report(const loadgen::RunResult& result, const loadgen::ReportOptions& options) {
  const loadgen::ReportOutcome outcome = loadgen::write_reports(result, options);
  fmt::print("{}", outcome.text);
  if (!outcome.status) return fail(outcome.status.error(), kFailed);
  const int status = exit_status(result);
  // A regression is only called one when it is sure, also where windows did not settle.
  const bool judged = status == 0 || status == kNotStable;
  return judged && outcome.regression ? kRegression : status;
}

int run_plan(const BenchOptions& options, loadgen::BenchPlan plan, loadgen::RunResult& result) {
  auto target = open_bench_target(options, result);
  if (!target) {
    const bool usage = target.error().code == ErrorCode::kInvalidArgument;
    return fail(target.error(), usage ? kUsageError : kFailed);
  }
  loadgen::WorkerOptions& worker = plan.pass.worker;
  worker.target = (*target)->target.get();
  worker.picker.sets = (*target)->sets();
  worker.picker.weights = (*target)->weights;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  const loadgen::BenchHooks hooks = make_hooks();
  const Status status =
      loadgen::run_bench(plan, (*target)->statistics.get(), stop_requested, hooks, result);
  if (status) return report(result, make_report_options(options));
  // What was measured before it is not lost.
  if (!result.passes.empty()) (void)report(result, make_report_options(options));
  return fail(status.error(), kFailed);
}

}  // namespace

int run_bench_command(const BenchOptions& options, const std::string& command_line,
                      const std::string& version) {
  const auto intervals = read_intervals(options);
  if (!intervals) return fail(intervals.error(), kUsageError);
  auto plan = make_bench_plan(options, *intervals);
  if (!plan) return fail(plan.error(), kUsageError);
  const Status writable = loadgen::check_report_options(make_report_options(options));
  if (!writable) return fail(writable.error(), kUsageError);
  raise_descriptor_limit();
  loadgen::RunResult result;
  result.command_line = command_line;
  result.version = version;
  result.settings = make_run_settings(options, *plan);
  return run_plan(options, std::move(*plan), result);
}

}  // namespace proa
