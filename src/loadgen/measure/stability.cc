#include "loadgen/measure/stability.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmt/format.h"

namespace proa::loadgen {
namespace {

constexpr double kTrendExplains = 0.8;
constexpr std::size_t kTrendNeeds = 4;
constexpr double kBimodalExplains = 0.85;
constexpr double kSmallestGroup = 0.03;
constexpr double kTailNeeds = 10;  // requests beyond the percentile, a window

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double spread_of(std::span<const double> values) {
  const double mean = mean_of(values);
  if (mean == 0) return 0;
  const auto [low, high] = std::ranges::minmax(values);
  return (high - low) / mean;
}

bool agree(std::span<const double> values, double percentage) {
  const double mean = mean_of(values);
  return std::ranges::all_of(
      values, [&](double value) { return std::abs(value - mean) <= percentage / 100 * mean; });
}

std::vector<double> rates_of(std::span<const Window> windows) {
  std::vector<double> rates;
  for (const Window& window : windows) rates.push_back(window.requests_per_second());
  return rates;
}

std::vector<double> latencies_ms(std::span<const Window> windows, const StabilityRule& rule) {
  std::vector<double> values;
  for (const Window& window : windows) {
    values.push_back(static_cast<double>(chosen_latency(window.latency, rule).count()) / 1e6);
  }
  return values;
}

std::string name_of(const StabilityRule& rule) {
  return rule.percentile ? fmt::format("p{:g} latency", *rule.percentile) : "mean latency";
}

std::string list(std::span<const double> values, std::string_view unit) {
  std::string text;
  for (const double value : values)
    text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", value);
  return fmt::format("{} {}", text, unit);
}

// Requests beyond the percentile in the smallest window.
double tail_size(std::span<const Window> windows, double percentile) {
  double least = INFINITY;
  for (const Window& window : windows) {
    least = std::min(least, static_cast<double>(window.counts.completed));
  }
  return least * (1 - percentile / 100);
}

void set(Stability& stability, Instability reason, std::string text) {
  stability.reason = reason;
  stability.text = std::move(text);
}

bool explain_by_outcome(const Evidence& evidence, Stability& stability) {
  std::uint64_t completed = 0;
  std::uint64_t errors = 0;
  for (const Window& window : evidence.windows) {
    completed += window.counts.completed;
    errors += window.counts.errors;
  }
  if (evidence.interrupted) {
    set(stability, Instability::kTooFewWindows, "it was interrupted");
  } else if (completed == 0) {
    set(stability, Instability::kErrors,
        errors > 0 ? "no request succeeded" : "no answer came within the whole pass");
  } else if (evidence.windows.size() < kWindowsThatAgree) {
    set(stability, Instability::kTooFewWindows,
        fmt::format("{} windows cannot agree; three are needed", evidence.windows.size()));
  } else if (evidence.saturated) {
    set(stability, Instability::kGeneratorSaturated, "the generator was at its own limit");
  } else if (errors > completed) {
    set(stability, Instability::kErrors, "most requests failed");
  } else {
    return false;
  }
  return true;
}

bool explain_by_trend(const Evidence& evidence, const StabilityRule& rule, Stability& stability) {
  const auto& waiting = evidence.in_flight;
  if (evidence.open_loop && trend(waiting) > 0 && waiting.back() > 2 * waiting.front() + 10) {
    set(stability, Instability::kServerOverloaded,
        fmt::format("more requests wait from window to window ({}): the server does not keep up",
                    list(waiting, "in flight")));
    return true;
  }
  const auto latencies = latencies_ms(evidence.windows, rule);
  if (const int way = trend(latencies); way != 0) {
    set(stability, Instability::kDrift,
        fmt::format("the {} keeps {} ({}): measure longer, or look for what changes in the server",
                    name_of(rule), way > 0 ? "rising" : "falling", list(latencies, "ms")));
    return true;
  }
  const auto rates = rates_of(evidence.windows);
  if (const int way = trend(rates); way != 0) {
    set(stability, Instability::kDrift,
        fmt::format("throughput keeps {} ({})", way > 0 ? "rising" : "falling",
                    list(rates, "requests a second")));
    return true;
  }
  return false;
}

}  // namespace

Duration chosen_latency(const LatencyHistogram& latency, const StabilityRule& rule) {
  return rule.percentile ? latency.quantile(*rule.percentile / 100) : latency.mean();
}

Stability judge_windows(std::span<const Window> windows, const StabilityRule& rule) {
  Stability stability;
  const auto last = windows.last(std::min(windows.size(), kWindowsThatAgree));
  if (last.empty()) return stability;
  const auto rates = rates_of(last);
  const auto latencies = latencies_ms(last, rule);
  stability.rate_spread = spread_of(rates);
  stability.latency_spread = spread_of(latencies);
  const bool all_answered =
      std::ranges::all_of(last, [](const Window& window) { return window.counts.completed > 0; });
  stability.stable = last.size() == kWindowsThatAgree && all_answered &&
                     agree(rates, rule.percentage) && agree(latencies, rule.percentage);
  return stability;
}

void explain(const Evidence& evidence, const StabilityRule& rule, Stability& stability) {
  if (stability.stable) return;
  if (explain_by_outcome(evidence, stability)) return;
  if (explain_by_trend(evidence, rule, stability)) return;
  if (rule.percentile && tail_size(evidence.windows, *rule.percentile) < kTailNeeds) {
    set(stability, Instability::kFewRequests,
        fmt::format("a window holds too few requests for a p{:g}: take longer windows "
                    "(--measurement-interval)",
                    *rule.percentile));
  } else if (is_bimodal(*evidence.latency)) {
    set(stability, Instability::kBimodal,
        "latencies fall into two groups, and how many are in which changes from window to window");
  } else {
    set(stability, Instability::kNoise,
        "windows differ without a pattern: other work on the machines, or windows that are too "
        "short");
  }
}

bool is_bimodal(const LatencyHistogram& latency) {
  struct Point {
    double x, weight;
  };
  std::vector<Point> points;
  double total = 0;
  double sum = 0;
  double squares = 0;
  for (const auto& [upper, count] : latency.buckets()) {
    const double x = std::log(static_cast<double>(upper.count()) + 1);
    const auto weight = static_cast<double>(count);
    points.push_back({x, weight});
    total += weight;
    sum += weight * x;
    squares += weight * x * x;
  }
  if (points.size() < 2) return false;
  const double variance = squares / total - (sum / total) * (sum / total);
  if (variance < 0.01) return false;  // all within a few percent of each other
  double below = 0;
  double sum_below = 0;
  double best = 0;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    below += points[i].weight;
    sum_below += points[i].weight * points[i].x;
    const double share = below / total;
    if (share < kSmallestGroup || share > 1 - kSmallestGroup) continue;
    const double distance = sum_below / below - (sum - sum_below) / (total - below);
    best = std::max(best, share * (1 - share) * distance * distance);
  }
  return best > kBimodalExplains * variance;
}

int trend(std::span<const double> values) {
  if (values.size() < kTrendNeeds) return 0;
  const double mean_x = (static_cast<double>(values.size()) - 1) / 2;
  const double mean_y = mean_of(values);
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - mean_x;
    const double y = values[i] - mean_y;
    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  if (yy == 0 || xy * xy < kTrendExplains * xx * yy) return 0;
  return xy > 0 ? 1 : -1;
}

}  // namespace proa::loadgen
