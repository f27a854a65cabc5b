#include "loadgen/questions/trial.h"

#include <algorithm>
#include <cmath>

namespace proa::loadgen {
namespace {

constexpr std::size_t kFewestWindows = 4;
constexpr double kSure = 0.99;
constexpr double kHorizonSeconds = 60;
constexpr double kLeastGrowth = 0.002;  // of the rate
constexpr double kLeastWaiting = 3;     // requests, over the whole pass
constexpr double kFewSent = 3;
constexpr double kSignificant = 6;  // slope over its standard error

double seconds_of(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }

// Probability that a standard normal value is below z.
double normal(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// By how many standard errors the requests above the bound exceed what is allowed.
double excess(const Pass& pass, const LatencyBound& bound) {
  const double allowed = 1 - bound.percentile.value_or(50) / 100;
  double sum = 0;
  double squares = 0;
  double requests = 0;
  double sent = 0;
  double windows = 0;
  for (std::size_t i = 1; i < pass.windows.size(); ++i) {
    const Window& window = pass.windows[i];
    const auto completed = static_cast<double>(window.counts.completed);
    const auto errors = static_cast<double>(window.counts.errors);
    const double above = completed * (1 - window.latency.share_at_most(bound.bound)) + errors;
    const double over = above - allowed * (completed + errors);
    sum += over;
    squares += over * over;
    requests += completed + errors;
    sent += static_cast<double>(window.counts.sent);
    ++windows;
  }
  // Nothing is answered; where hardly anything was sent, that proves nothing.
  if (requests == 0) return sent > kFewSent ? INFINITY : 0;
  const double between = std::max(squares - sum * sum / windows, 0.0) * windows / (windows - 1);
  const double binomial = allowed * (1 - allowed) * requests;
  return sum / std::sqrt(std::max({between, binomial, 1e-9}));
}

}  // namespace

double queue_growth(const std::vector<SeriesPoint>& series, Duration settled, double rate) {
  double n = 0;
  double sum_x = 0;
  double sum_y = 0;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const SeriesPoint& point : series) {
    if (point.start < settled) continue;
    const double x = seconds_of(point.start + point.duration - settled);
    const auto y = static_cast<double>(point.in_flight);
    ++n;
    sum_x += x;
    sum_y += y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (n < 8 || rate <= 0) return 0;
  const double sxx = xx - sum_x * sum_x / n;
  const double sxy = xy - sum_x * sum_y / n;
  const double syy = yy - sum_y * sum_y / n;
  const double slope = sxy / sxx;
  const double residual = std::max(syy - slope * sxy, 0.0) / (n - 2);
  const double length = std::sqrt(12 * sxx / n);  // of evenly spread points
  if (slope * length < kLeastWaiting || slope < kSignificant * std::sqrt(residual / sxx)) return 0;
  const double growth = slope / rate;
  return growth < kLeastGrowth ? 0 : growth;
}

TrialVerdict judge_trial(const Pass& pass, const LatencyBound& bound) {
  using enum TrialVerdict::Outcome;
  TrialVerdict verdict;
  if (pass.windows.size() < kFewestWindows) return verdict;
  const double growth =
      queue_growth(pass.series, pass.windows[0].start + pass.windows[0].duration, pass.load);
  const Duration now =
      chosen_latency(pass.windows.back().latency, {.percentile = bound.percentile});
  if (seconds_of(now) + growth * kHorizonSeconds > seconds_of(bound.bound) && growth > 0) {
    return {kBreaks, 1, false, true};
  }
  const double breaks = normal(excess(pass, bound));
  verdict.likely_keeps = breaks < 0.5;
  verdict.confidence = std::max(breaks, 1 - breaks);
  if (verdict.confidence >= kSure) verdict.outcome = verdict.likely_keeps ? kKeeps : kBreaks;
  return verdict;
}

}  // namespace proa::loadgen
