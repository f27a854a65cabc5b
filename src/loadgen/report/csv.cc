#include "loadgen/report/csv.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace proa::loadgen {
namespace {

using Row = std::vector<std::string>;

std::string whole(double us) { return fmt::format("{}", static_cast<std::int64_t>(us)); }

// As C++ streams print numbers: six digits, but never an exponent.
std::string number(double value) {
  return std::abs(value) >= 1e6 ? fmt::format("{:.0f}", value) : fmt::format("{:g}", value);
}

// What the whole file has columns for.
struct Columns {
  bool open_loop = false;
  bool decoupled = false;
  bool server = false;
  bool cache = false;
  bool verbose = false;
  bool gpu = false;
  std::optional<double> percentile;  // beside 50, 90, 95 and 99
  bool mean_settles = false;
};

bool is_gpu_metric(const bench::Metric& metric) { return metric.name().starts_with("nv_gpu_"); }

Columns find_columns(const bench::BenchReport& report, bool verbose) {
  Columns columns;
  columns.verbose = verbose;
  // A search in open loop begins with a probe in closed loop.
  columns.open_loop = report.levels_size() > 0 && report.levels().rbegin()->open_loop();
  columns.decoupled = std::ranges::any_of(report.models(), &bench::Model::decoupled);
  columns.mean_settles = !report.settings().has_percentile();
  if (!columns.mean_settles) {
    const double percentile = report.settings().percentile();
    const bool fixed = percentile == 50 || percentile == 90 || percentile == 95 || percentile == 99;
    if (!fixed) columns.percentile = percentile;
  }
  for (const bench::Level& level : report.levels()) {
    columns.server |= level.stages().has_server();
    columns.cache |= level.stages().cache_hit_us() + level.stages().cache_miss_us() > 0;
    columns.gpu |= std::ranges::any_of(level.metrics(), is_gpu_metric);
  }
  return columns;
}

// "p50 latency", ... in rising order.
std::map<double, double> percentiles(const bench::Latency& latency, const Columns& columns) {
  std::map<double, double> values{{50, latency.p50_us()},
                                  {90, latency.p90_us()},
                                  {95, latency.p95_us()},
                                  {99, latency.p99_us()}};
  if (columns.percentile) values[*columns.percentile] = latency.chosen_us();
  return values;
}

Row header(const Columns& columns) {
  Row row{columns.open_loop ? "Request Rate" : "Concurrency", "Inferences/Second"};
  if (columns.decoupled) row.emplace_back("Response Throughput");
  row.emplace_back("Client Send");
  if (columns.server) {
    row.insert(row.end(), {"Network+Server Send/Recv", "Server Queue", "Server Compute Input",
                           "Server Compute Infer", "Server Compute Output"});
    if (columns.cache) row.insert(row.end(), {"Server Cache Hit", "Server Cache Miss"});
  }
  row.emplace_back("Client Recv");
  for (const auto& [percentile, value] : percentiles({}, columns)) {
    row.push_back(fmt::format("p{:g} latency", percentile));
  }
  if (!columns.verbose) return row;
  if (columns.mean_settles) row.emplace_back("Avg latency");
  row.insert(row.end(), {"request/response", "response wait"});
  if (columns.gpu) {
    row.insert(row.end(), {"Avg GPU Utilization", "Avg GPU Power Usage", "Max GPU Memory Usage",
                           "Total GPU Memory"});
  }
  return row;
}

// "uuid:value;" of every GPU: the mean of before and after, of memory the larger.
std::string gpu_column(const bench::Level& level, std::string_view name) {
  const bool largest = name.contains("memory");
  std::string text;
  for (const bench::Metric& metric : level.metrics()) {
    if (!metric.name().starts_with(name)) continue;
    const std::size_t open = metric.name().find('"');
    const std::size_t close = metric.name().rfind('"');
    if (open == std::string::npos || open == close) continue;
    text += fmt::format("{}:{};", metric.name().substr(open + 1, close - open - 1),
                        number(largest ? std::max(metric.before(), metric.after())
                                       : (metric.before() + metric.after()) / 2));
  }
  return text;
}

void add_server(const bench::Stages& stages, const Columns& columns, Row& row) {
  const double accounted = stages.queue_us() + stages.compute_input_us() +
                           stages.compute_infer_us() + stages.compute_output_us() +
                           stages.cache_hit_us() + stages.cache_miss_us();
  row.push_back(whole(std::max(0.0, stages.client_wait_us() - accounted)));
  row.push_back(whole(stages.queue_us()));
  row.push_back(whole(stages.compute_input_us()));
  row.push_back(whole(stages.compute_infer_us()));
  row.push_back(whole(stages.compute_output_us()));
  if (columns.cache) {
    row.push_back(whole(stages.cache_hit_us()));
    row.push_back(whole(stages.cache_miss_us()));
  }
}

void add_verbose(const bench::Level& level, const Columns& columns, Row& row) {
  const bench::Stages& stages = level.stages();
  if (columns.mean_settles) row.push_back(whole(level.latency().mean_us()));
  row.push_back(whole(stages.client_send_us() + stages.client_receive_us()));
  row.push_back(whole(stages.client_wait_us()));
  if (!columns.gpu) return;
  for (const char* name : {"nv_gpu_utilization", "nv_gpu_power_usage", "nv_gpu_memory_used_bytes",
                           "nv_gpu_memory_total_bytes"}) {
    row.push_back(gpu_column(level, name));
  }
}

Row level_row(const bench::Level& level, const Columns& columns) {
  Row row{number(level.load()), number(level.inferences_per_second())};
  if (columns.decoupled) row.push_back(number(level.responses_per_second()));
  row.push_back(whole(level.stages().client_send_us()));
  if (columns.server) add_server(level.stages(), columns, row);
  row.push_back(whole(level.stages().client_receive_us()));
  for (const auto& [percentile, value] : percentiles(level.latency(), columns)) {
    row.push_back(whole(value));
  }
  if (columns.verbose) add_verbose(level, columns, row);
  return row;
}

std::vector<const bench::Level*> shown_levels(const bench::BenchReport& report,
                                              const Columns& columns) {
  std::vector<const bench::Level*> levels;
  for (const bench::Level& level : report.levels()) {
    if (level.open_loop() != columns.open_loop) continue;
    if (level.valid() && level.counts().completed() > 0) levels.push_back(&level);
  }
  std::ranges::stable_sort(
      levels, {}, [](const bench::Level* level) { return level->inferences_per_second(); });
  return levels;
}

std::string join(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += fmt::format("{}\n", fmt::join(row, ","));
  return text;
}

// A level as one step of an ensemble saw it: its own server times, and nothing of the client.
bench::Level step_level(const bench::Level& level, const bench::ServerModel& step) {
  bench::Level part = level;
  bench::Stages& stages = *part.mutable_stages();
  const double accounted = step.queue().mean_us() + step.compute_input().mean_us() +
                           step.compute_infer().mean_us() + step.compute_output().mean_us();
  stages.set_client_send_us(0);
  stages.set_client_receive_us(0);
  stages.set_client_wait_us(std::max(accounted, step.success().mean_us()));
  stages.set_queue_us(step.queue().mean_us());
  stages.set_compute_input_us(step.compute_input().mean_us());
  stages.set_compute_infer_us(step.compute_infer().mean_us());
  stages.set_compute_output_us(step.compute_output().mean_us());
  stages.set_cache_hit_us(step.cache_hit().mean_us());
  stages.set_cache_miss_us(step.cache_miss().mean_us());
  return part;
}

// `text` as part of a file's name, whatever it is: other than letters, digits, '.', '_' and '-' as
// %XX, also a dot in front.
std::string file_name_of(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  std::string name;
  for (const char c : text) {
    const bool plain = kPlain.contains(c) && !(c == '.' && name.empty());
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return name;
}

}  // namespace

std::vector<CsvFile> csv_report(const bench::BenchReport& report, const std::filesystem::path& path,
                                bool verbose) {
  const Columns columns = find_columns(report, verbose);
  std::vector<Row> rows{header(columns)};
  std::map<std::string, std::vector<Row>> steps;
  for (const bench::Level* level : shown_levels(report, columns)) {
    rows.push_back(level_row(*level, columns));
    for (const bench::ServerModel& model : level->server()) {
      if (!model.composing()) continue;
      std::vector<Row>& of_step = steps[fmt::format("{}_v{}", model.name(), model.version())];
      if (of_step.empty()) of_step.push_back(header(columns));
      of_step.push_back(level_row(step_level(*level, model), columns));
    }
  }
  std::vector<CsvFile> files{{path, join(rows)}};
  for (const auto& [name, of_step] : steps) {
    const std::string file = file_name_of(name) + "." + path.filename().string();
    files.push_back({path.parent_path() / file, join(of_step)});
  }
  return files;
}

}  // namespace proa::loadgen
