#include "loadgen/report/compare.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "fmt/format.h"
#include "loadgen/report/make_report.h"
#include "loadgen/report/text.h"
#include "proto/json.h"

namespace proa::loadgen {
namespace {

// Failed requests may rise by this share of all before it counts.
constexpr double kMaxMoreErrors = 0.001;

struct Sample {
  double mean = 0;
  double variance_of_mean = 0;
  double count = 0;
};

Sample sample_of(std::span<const double> values) {
  Sample sample;
  sample.count = static_cast<double>(values.size());
  sample.mean = std::accumulate(values.begin(), values.end(), 0.0) / sample.count;
  double squares = 0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  sample.variance_of_mean = squares / (sample.count - 1) / sample.count;
  return sample;
}

// One figure of a level in both runs.
struct Figure {
  std::string name;
  double old_value, new_value;
  std::vector<double> old_windows, new_windows;
  bool more_is_better = false;
  bool is_time = false;
};

template <class Read>
std::vector<double> of_windows(const bench::Level& level, Read read) {
  std::vector<double> values;
  for (const bench::Window& window : level.windows()) {
    if (window.used() && window.completed() > 0) values.push_back(read(window));
  }
  return values;
}

std::vector<Figure> figures_of(const bench::Level& a, const bench::Level& b, bool chosen) {
  std::vector<Figure> figures;
  const auto add = [&](std::string name, bool time, auto read_window, auto read_level) {
    figures.push_back({std::move(name), read_level(a), read_level(b), of_windows(a, read_window),
                       of_windows(b, read_window), !time, time});
  };
  if (!a.open_loop()) {
    add(
        "requests/s", false, [](const auto& w) { return w.requests_per_second(); },
        [](const auto& l) { return l.requests_per_second(); });
  }
  add(
      "p50", true, [](const auto& w) { return w.p50_us(); },
      [](const auto& l) { return l.latency().p50_us(); });
  add(
      "p99", true, [](const auto& w) { return w.p99_us(); },
      [](const auto& l) { return l.latency().p99_us(); });
  if (chosen) {
    add(
        "chosen", true, [](const auto& w) { return w.chosen_us(); },
        [](const auto& l) { return l.latency().chosen_us(); });
  }
  return figures;
}

class Comparer {
 public:
  // `figures`: how many will be compared; all of them together are to be as sure as asked.
  Comparer(const CompareOptions& options, std::size_t figures)
      : options_(options),
        confidence_(1 - (1 - options.confidence) /
                            static_cast<double>(std::max<std::size_t>(figures, 1))) {}

  void compare_levels(const bench::Level& a, const bench::Level& b, bool chosen) {
    result_.text += fmt::format("\n{}\n", b.name());
    if (!a.valid() || !b.valid()) {
      result_.text +=
          fmt::format("  not compared: the {} run is INVALID here\n", a.valid() ? "new" : "old");
      return;
    }
    for (const Figure& figure : figures_of(a, b, chosen)) compare_figure(figure);
    compare_errors(a, b);
    ++compared_;
  }

  void compare_find_max(const bench::FindMax& a, const bench::FindMax& b) {
    if (!a.found() || !b.found()) return;
    const double change = (b.rate() / a.rate() - 1) * 100;
    const bool apart = b.rate_high() > 0 && b.rate_high() < a.rate_low();
    const bool worse = change < -options_.max_regression_percent && apart;
    result_.text += fmt::format("\nfind-max  {:>10.1f}/s {:>10.1f}/s {:>+8.1f} %  {}\n", a.rate(),
                                b.rate(), change, worse ? "REGRESSION" : "");
    result_.regression |= worse;
    ++compared_;
  }

  int compared() const { return compared_; }
  Comparison& result() { return result_; }

 private:
  void compare_figure(const Figure& figure) {
    if (figure.old_value <= 0) return;
    const double change = (figure.new_value / figure.old_value - 1) * 100;
    const double confidence = welch_confidence(figure.old_windows, figure.new_windows);
    const double loss = figure.more_is_better ? -change : change;
    const bool much = loss > options_.max_regression_percent;
    const bool sure = confidence >= confidence_;
    const auto show = [&](double value) {
      return figure.is_time ? duration_text(value) : fmt::format("{:.1f}", value);
    };
    result_.text +=
        fmt::format("  {:<10} {:>10} {:>10} {:>+8.1f} %  {:>5.1f} % sure  {}\n", figure.name,
                    show(figure.old_value), show(figure.new_value), change, confidence * 100,
                    much && sure ? "REGRESSION"
                    : much       ? "worse, but not sure: measure longer"
                    : sure       ? (loss > 0 ? "worse, within the limit" : "better")
                                 : "no clear difference");
    result_.regression |= much && sure;
  }

  void compare_errors(const bench::Level& a, const bench::Level& b) {
    const auto share = [](const bench::Counts& counts) {
      const double all = static_cast<double>(counts.completed() + counts.errors());
      return all == 0 ? 0 : static_cast<double>(counts.errors()) / all;
    };
    const double old_share = share(a.counts());
    const double new_share = share(b.counts());
    if (old_share == 0 && new_share == 0) return;
    const bool worse = new_share > old_share + kMaxMoreErrors;
    result_.text += fmt::format("  {:<10} {:>8.2f} % {:>8.2f} %  {}\n", "failed", old_share * 100,
                                new_share * 100, worse ? "REGRESSION" : "");
    result_.regression |= worse;
  }

  const CompareOptions& options_;
  const double confidence_;  // of one figure (Bonferroni)
  Comparison result_;
  int compared_ = 0;
};

const bench::Level* find_level(const bench::BenchReport& run, const bench::Level& like) {
  for (const bench::Level& level : run.levels()) {
    if (level.shape() == like.shape() && level.load() == like.load()) return &level;
  }
  return nullptr;
}

// What else differs between the runs and could be the reason.
std::string conditions(const bench::BenchReport& a, const bench::BenchReport& b) {
  std::string text;
  const auto differ = [&](const char* what, const std::string& old_one,
                          const std::string& new_one) {
    if (old_one != new_one) {
      text += fmt::format("note: the runs differ in {}: {} and {}\n", what, old_one, new_one);
    }
  };
  const auto data = [](const bench::BenchReport& run) {
    std::string text;
    for (const bench::Model& model : run.models()) {
      text += fmt::format("{}{}: {}, batch size {}", text.empty() ? "" : "; ", model.name(),
                          model.data(), model.batch_size());
    }
    return text;
  };
  differ("protocol", a.target().protocol(), b.target().protocol());
  differ("machine", a.machine(), b.machine());
  differ("data", data(a), data(b));
  differ("server", a.target().server_name() + " " + a.target().server_version(),
         b.target().server_name() + " " + b.target().server_version());
  return text;
}

}  // namespace

double welch_confidence(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return 0;
  const Sample x = sample_of(a);
  const Sample y = sample_of(b);
  const double variance = x.variance_of_mean + y.variance_of_mean;
  if (variance <= 0) return x.mean == y.mean ? 0 : 1;
  const double t = std::abs(x.mean - y.mean) / std::sqrt(variance);
  const double freedom = variance * variance /
                         (x.variance_of_mean * x.variance_of_mean / (x.count - 1) +
                          y.variance_of_mean * y.variance_of_mean / (y.count - 1));
  return 2 * boost::math::cdf(boost::math::students_t(freedom), t) - 1;
}

Result<bench::BenchReport> read_report(std::string_view json) {
  bench::BenchReport report;
  PROA_TRY(proto::from_json(json, report));
  if (report.schema_version() != kReportSchemaVersion) {
    return error::invalid_argument("schema_version is {}, and this proa reads {}",
                                   report.schema_version(), kReportSchemaVersion);
  }
  return report;
}

Result<Comparison> compare_reports(const bench::BenchReport& old_run,
                                   const bench::BenchReport& new_run,
                                   const CompareOptions& options) {
  const bool chosen = old_run.settings().has_percentile() && new_run.settings().has_percentile() &&
                      old_run.settings().percentile() == new_run.settings().percentile();
  // The short trials of a search, beyond the bound too, are no levels to compare.
  const bool search = old_run.has_find_max() || new_run.has_find_max();
  std::vector<std::pair<const bench::Level*, const bench::Level*>> levels;
  std::size_t figures = 0;
  for (const bench::Level& level : new_run.levels()) {
    const bench::Level* same = search ? nullptr : find_level(old_run, level);
    if (same == nullptr) continue;
    levels.emplace_back(same, &level);
    if (same->valid() && level.valid()) figures += figures_of(*same, level, chosen).size();
  }
  Comparer comparer(options, figures);
  comparer.result().text =
      fmt::format("old: {} ({})\nnew: {} ({})\n{}", old_run.command_line(), old_run.started(),
                  new_run.command_line(), new_run.started(), conditions(old_run, new_run));
  comparer.result().text +=
      fmt::format("{:<12} {:>10} {:>10} {:>10}\n", "", "old", "new", "change");
  for (const auto& [old_level, new_level] : levels) {
    comparer.compare_levels(*old_level, *new_level, chosen);
  }
  if (old_run.has_find_max() && new_run.has_find_max()) {
    comparer.compare_find_max(old_run.find_max(), new_run.find_max());
  }
  if (comparer.compared() == 0) {
    return error::failed_precondition(
        "the runs have no valid load level in common; run both with the same load flags");
  }
  Comparison& result = comparer.result();
  result.text += fmt::format("\n{}: worse by more than {:g} % with at least {:g} % confidence {}\n",
                             result.regression ? "REGRESSION" : "no regression",
                             options.max_regression_percent, options.confidence * 100,
                             result.regression ? "(marked above)" : "was not found");
  return std::move(result);
}

}  // namespace proa::loadgen
