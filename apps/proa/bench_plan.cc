#include "bench_plan.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "loadgen/clients/grpc_client.h"
#include "loadgen/schedules/gap_list.h"
#include "loadgen/schedules/stages.h"

namespace proa {
namespace {

using loadgen::Load;
using loadgen::LoadShape;

constexpr double kMostConcurrency = 100'000;
constexpr double kMostRate = 1e6;
constexpr double kDefaultFindMaxPercentile = 99;
constexpr std::size_t kMostLoads = 10'000;

Duration from_ms(double ms) { return Duration(std::llround(ms * 1e6)); }

// Which flags shape the load; at most one may.
std::vector<std::string_view> given_loads(const BenchOptions& options) {
  std::vector<std::string_view> given;
  if (!options.concurrency_range.empty()) given.push_back("--concurrency-range");
  if (!options.request_rate_range.empty()) given.push_back("--request-rate-range");
  if (!options.request_intervals.empty()) given.push_back("--request-intervals");
  if (!options.stages.empty()) given.push_back("--stages");
  return given;
}

Status check_load_flags(const BenchOptions& options) {
  const auto given = given_loads(options);
  if (given.size() > 1) {
    return error::invalid_argument("{} and {} each say what the load is; give one of them",
                                   given[0], given[1]);
  }
  const bool is_range = !options.concurrency_range.empty() || !options.request_rate_range.empty();
  if (options.find_max && options.binary_search) {
    return error::invalid_argument(
        "--find-max and --binary-search are two ways to search; give one of them");
  }
  if (options.find_max && !given.empty() && options.request_rate_range.empty()) {
    return error::invalid_argument(
        "--find-max searches for a rate; it goes with --request-rate-range (where to search), not "
        "with {}",
        given[0]);
  }
  if (options.binary_search && !is_range) {
    return error::invalid_argument(
        "--binary-search wants the range to search in: --concurrency-range or "
        "--request-rate-range START:END:STEP");
  }
  if ((options.find_max || options.binary_search) && !options.latency_ms) {
    return error::invalid_argument("{} wants the bound: --latency-ms MS",
                                   options.find_max ? "--find-max" : "--binary-search");
  }
  if (options.request_count > 0 && (options.find_max || !options.stages.empty())) {
    return error::invalid_argument("--request-count does not go with {}, which ends by itself",
                                   options.find_max ? "--find-max" : "--stages");
  }
  return {};
}

// A search makes many short passes, each as long as it needs.
Status check_find_max_flags(const BenchOptions& options) {
  const BenchOptions usual;
  std::string_view flag;
  if (options.measurement_interval_ms != usual.measurement_interval_ms) flag = "-p";
  if (options.max_trials != usual.max_trials) flag = "-r";
  if (options.measurement_mode != usual.measurement_mode) flag = "--measurement-mode";
  if (!options.find_max || flag.empty()) return {};
  return error::invalid_argument(
      "{} is of loads that are measured until they settle; --find-max measures as long as it must",
      flag);
}

Status check_engine_flags(const BenchOptions& options) {
  if (options.engine.empty()) return {};
  if (!options.models.empty() || !options.url.empty()) {
    return error::invalid_argument(
        "--engine runs a model in this process; -m and -u name one on a server");
  }
  std::string_view flag;
  if (!options.version.empty()) flag = "-x";
  if (options.protocol != BenchOptions().protocol) flag = "-i";
  if (options.streaming) flag = "--streaming";
  if (!options.headers.empty()) flag = "-H";
  if (options.collect_metrics) flag = "--collect-metrics";
  if (flag.empty()) return {};
  return error::invalid_argument("{} is of servers; --engine runs a model in this process", flag);
}

Status check_other_flags(const BenchOptions& options) {
  for (const std::string& header : options.headers) {
    const std::size_t colon = header.find(':');
    if (colon != std::string::npos && colon > 0) continue;
    return error::invalid_argument("-H {}: wanted NAME:VALUE", header);
  }
  if (options.request_distribution == "poisson" && options.request_rate_range.empty() &&
      options.stages.empty() && !options.find_max) {
    return error::invalid_argument(
        "--request-distribution is of rates; give --request-rate-range, --stages or --find-max");
  }
  if (options.streaming && options.protocol != "grpc") {
    return error::invalid_argument("--streaming is gRPC's; add -i grpc");
  }
  const bool json = options.input_format == "json" || options.output_format == "json";
  if (json && (options.protocol == "grpc" || !options.engine.empty())) {
    return error::invalid_argument("--input-tensor-format and --output-tensor-format are of HTTP");
  }
  if (options.engine.empty() && options.models.empty()) {
    return error::invalid_argument("-m NAME says which model; or --engine PATH");
  }
  if (!options.metrics_url.empty() && !options.collect_metrics) {
    return error::invalid_argument("--metrics-url goes with --collect-metrics");
  }
  if (options.zero_input && !options.input_data.empty()) {
    return error::invalid_argument("-z and --input-data both say what to send");
  }
  if (options.verbose_csv && options.csv.empty()) {
    return error::invalid_argument("--verbose-csv goes with -f FILE");
  }
  return {};
}

Status check_range(std::string_view flag, const NumberRange& range, double most, bool whole) {
  const bool whole_numbers = std::floor(range.start) == range.start &&
                             std::floor(range.end) == range.end &&
                             std::floor(range.step) == range.step;
  if (whole && (!whole_numbers || range.start < 1)) {
    return error::invalid_argument("{}: requests in flight are whole numbers from 1", flag);
  }
  if (range.start <= 0 || range.end < range.start || range.step <= 0 || range.end > most) {
    return error::invalid_argument("{}: wanted 0 < START <= END <= {:g} and STEP > 0", flag, most);
  }
  if ((range.end - range.start) / range.step > static_cast<double>(kMostLoads)) {
    return error::invalid_argument("{}: that is more than {} loads", flag, kMostLoads);
  }
  return {};
}

// The range of whichever flag gives one, with the shape of its loads.
Result<NumberRange> read_range(const BenchOptions& options, Load& shape) {
  if (options.request_rate_range.empty()) {
    shape.shape = LoadShape::kConcurrency;
    constexpr std::string_view kFlag = "--concurrency-range";
    const std::string& text = options.concurrency_range;
    PROA_ASSIGN(const NumberRange range, parse_range(kFlag, text.empty() ? "1" : text));
    PROA_TRY(check_range(kFlag, range, kMostConcurrency, true));
    return range;
  }
  shape.shape = options.request_distribution == "poisson" ? LoadShape::kPoissonRate
                                                          : LoadShape::kConstantRate;
  constexpr std::string_view kFlag = "--request-rate-range";
  PROA_ASSIGN(const NumberRange range, parse_range(kFlag, options.request_rate_range));
  PROA_TRY(check_range(kFlag, range, kMostRate, false));
  return range;
}

Status plan_loads(const BenchOptions& options, std::string_view intervals,
                  loadgen::BenchPlan& plan) {
  Load load;
  load.seed = options.seed;
  load.requests = options.request_count;
  if (!options.request_intervals.empty()) {
    auto gaps = loadgen::parse_gaps(intervals);
    if (!gaps) return with_context(options.request_intervals, gaps.error());
    load.shape = LoadShape::kArrivals;
    load.gaps = std::move(*gaps);
    plan.loads = {load};
    return {};
  }
  if (!options.stages.empty()) {
    auto stages = loadgen::parse_stages(options.stages);
    if (!stages) return with_context("--stages", stages.error());
    load.shape = LoadShape::kStages;
    load.stages = std::move(*stages);
    load.poisson_stages = options.request_distribution == "poisson";
    plan.loads = {load};
    return {};
  }
  PROA_ASSIGN(const NumberRange range, read_range(options, load));
  if (options.binary_search) {
    plan.binary_search = {load, range.start, range.end, range.step};
    return {};
  }
  for (std::size_t i = 0;; ++i) {
    load.value = range.start + static_cast<double>(i) * range.step;
    if (load.value > range.end * (1 + 1e-9)) break;
    plan.loads.push_back(load);
  }
  return {};
}

Status plan_find_max(const BenchOptions& options, loadgen::BenchPlan& plan) {
  loadgen::FindMaxOptions search;
  search.bound = plan.bound;
  search.poisson = options.request_distribution == "poisson";
  search.seed = options.seed;
  if (!options.request_rate_range.empty()) {
    Load ignored;
    PROA_ASSIGN(const NumberRange range, read_range(options, ignored));
    search.first_rate = range.start;
    if (range.end > range.start) search.highest_rate = range.end;
  }
  plan.find_max = search;
  return {};
}

// Of the largest closed loop; 0: open loops.
std::size_t most_in_flight(const loadgen::BenchPlan& plan) {
  if (plan.binary_search && plan.binary_search->shape.shape == LoadShape::kConcurrency) {
    return static_cast<std::size_t>(plan.binary_search->last);
  }
  if (plan.loads.empty() || plan.loads.back().shape != LoadShape::kConcurrency) return 0;
  return static_cast<std::size_t>(plan.loads.back().value);
}

// A closed loop must have as many requests on the server as it says, and sequences ids of their
// own.
Status check_room(const BenchOptions& options, const loadgen::BenchPlan& plan) {
  const std::size_t in_flight = most_in_flight(plan);
  const auto threads = static_cast<std::size_t>(plan.pass.max_threads);
  const std::size_t calls =
      options.protocol == "grpc" ? loadgen::GrpcTargetOptions{}.calls_per_connection : 1;
  const auto connections = static_cast<std::size_t>(options.max_connections);
  if (options.engine.empty() && in_flight > connections * calls * threads) {
    return error::invalid_argument(
        "--concurrency-range: {} requests in flight need --max-connections {}, or more "
        "--max-threads",
        in_flight, (in_flight + calls * threads - 1) / (calls * threads));
  }
  const loadgen::SequenceIds& ids = plan.pass.worker.picker.ids;
  const std::size_t sequences = std::max(in_flight, plan.pass.worker.picker.sequences);
  if (ids.end != 0 && ids.end - ids.first < sequences + threads) {
    return error::invalid_argument("--sequence-id-range {}: too few ids for {} sequences at a time",
                                   options.sequence_id_range, sequences);
  }
  return {};
}

}  // namespace

Result<loadgen::BenchPlan> make_bench_plan(const BenchOptions& options,
                                           std::string_view intervals) {
  PROA_TRY(check_engine_flags(options));
  PROA_TRY(check_load_flags(options));
  PROA_TRY(check_find_max_flags(options));
  PROA_TRY(check_other_flags(options));
  loadgen::BenchPlan plan;
  plan.bound.bound = from_ms(options.latency_ms.value_or(0));
  if (options.percentile.value_or(-1) > 0) plan.bound.percentile = options.percentile;
  if (options.find_max && !plan.bound.percentile) plan.bound.percentile = kDefaultFindMaxPercentile;
  if (options.find_max) {
    PROA_TRY(plan_find_max(options, plan));
  } else {
    PROA_TRY(plan_loads(options, intervals, plan));
  }
  plan.warmup_requests = options.warmup_request_count;
  loadgen::PassOptions& pass = plan.pass;
  pass.max_threads = std::max(options.max_threads, 1);
  pass.interval = from_ms(static_cast<double>(options.measurement_interval_ms));
  if (options.measurement_mode == "count_windows") {
    pass.window_requests = options.measurement_request_count;
  }
  pass.rule = {options.stability_percentage, plan.bound.percentile};
  pass.max_windows = options.max_trials;
  loadgen::WorkerOptions& worker = pass.worker;
  worker.request_timeout = from_ms(options.request_timeout_ms);
  worker.keep_requests = !options.profile_export.empty();
  // In a closed loop each request in flight has its own.
  const bool closed = most_in_flight(plan) > 0;
  worker.picker.sequences = closed ? 1 : options.sequences;
  worker.picker.sequence_length = options.sequence_length;
  worker.picker.length_variation = options.sequence_length_variation / 100;
  worker.picker.seed = options.seed;
  PROA_ASSIGN(worker.picker.ids, parse_sequence_ids(options.sequence_id_range));
  PROA_TRY(check_room(options, plan));
  return plan;
}

loadgen::RunSettings make_run_settings(const BenchOptions& options,
                                       const loadgen::BenchPlan& plan) {
  loadgen::RunSettings settings;
  settings.protocol = !options.engine.empty() ? "engine"
                      : options.streaming     ? "grpc stream"
                                              : options.protocol;
  settings.url = options.engine.empty() ? options.url : options.engine;
  settings.count_windows = plan.pass.window_requests > 0;
  settings.measurement_interval = plan.pass.interval;
  settings.measurement_request_count = plan.pass.window_requests;
  settings.stability_percentage = plan.pass.rule.percentage;
  settings.max_trials = plan.pass.max_windows;
  settings.percentile = plan.bound.percentile;
  settings.latency_threshold = plan.bound.bound;
  settings.threads = plan.pass.max_threads;
  settings.seed = options.seed;
  settings.keep_requests = plan.pass.worker.keep_requests;
  return settings;
}

}  // namespace proa
