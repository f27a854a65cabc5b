#include "loadgen/questions/trial.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace proa::loadgen {
namespace {

constexpr std::size_t kWarmUpWindows = 3;
constexpr std::size_t kFewestWindows = kWarmUpWindows + 2;
constexpr double kSure = 2.33;  // standard errors: 99 %
// A queue that reaches the bound for 1 % of the time stays there for some eight times the bound.
constexpr double kClusterBounds = 12;
constexpr double kCaution = 1.5;      // windows are not much longer than clusters, and cut them
constexpr double kGuessIsWorth = 20;  // windows
// A share that is this far beyond what a percentile allows depends on how long the pass was, as the
// queue has no end: it says that the rate is too high, not by how much.
constexpr double kOverloaded = 0.3;
constexpr double kOverloadIs = 4;  // requests
constexpr double kHorizonSeconds = 60;
constexpr double kLeastGrowth = 0.002;  // of the rate
constexpr double kLeastWaiting = 3;     // requests, over the whole pass
constexpr double kFewSent = 3;
constexpr double kSignificant = 5;  // growth over its standard error
constexpr std::size_t kBlocks = 20;
constexpr std::size_t kFewestBlocks = 6;

double seconds_of(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }

double allowed_share(const LatencyBound& bound) { return 1 - bound.percentile.value_or(50) / 100; }

double above_in(const Window& window, Duration threshold) {
  const auto completed = static_cast<double>(window.counts.completed);
  return completed * (1 - window.latency.share_at_most(threshold)) +
         static_cast<double>(window.counts.errors);
}

bool grows(const Pass& pass, const LatencyBound& bound) {
  const Window& last = pass.windows.back();
  const Window& settled = pass.windows[kWarmUpWindows - 1];
  const double growth = queue_growth(pass.series, settled.start + settled.duration, pass.load);
  const Duration now = chosen_latency(last.latency, {.percentile = bound.percentile});
  return growth > 0 && seconds_of(now) + growth * kHorizonSeconds > seconds_of(bound.bound);
}

}  // namespace

double queue_growth(const std::vector<SeriesPoint>& series, Duration settled, double rate) {
  std::vector<const SeriesPoint*> points;
  for (const SeriesPoint& point : series) {
    if (point.start >= settled) points.push_back(&point);
  }
  const std::size_t blocks = std::min(points.size() / 4, kBlocks);
  if (blocks < kFewestBlocks || rate <= 0) return 0;
  // What a queue without a trend does from block to block has a mean of zero.
  const std::size_t step = (points.size() - 1) / blocks;
  const std::size_t first = points.size() - 1 - step * blocks;
  const auto waiting = [&](std::size_t block) {
    return static_cast<double>(points[first + step * block]->in_flight);
  };
  const auto n = static_cast<double>(blocks);
  const double risen = waiting(blocks) - waiting(0);
  double squares = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    const double off = waiting(i + 1) - waiting(i) - risen / n;
    squares += off * off;
  }
  const double error = std::sqrt(squares / (n - 1) * n);  // of `risen`
  if (risen < kLeastWaiting || risen < kSignificant * error) return 0;
  const double growth = risen / seconds_of(points.back()->start - points[first]->start) / rate;
  return growth < kLeastGrowth ? 0 : growth;
}

TrialFigures weigh_trial(const Pass& pass, const LatencyBound& bound) {
  TrialFigures found;
  if (pass.windows.size() < kFewestWindows) return found;
  const std::span windows = std::span(pass.windows).subspan(kWarmUpWindows);
  LatencyHistogram latency;
  double sent = 0;
  for (const Window& window : windows) {
    latency.merge(window.latency);
    sent += static_cast<double>(window.counts.sent);
    found.requests += static_cast<double>(window.counts.completed + window.counts.errors);
    found.above += above_in(window, bound.bound);
  }
  found.windows = static_cast<double>(windows.size());
  // Nothing is answered; where hardly anything was sent, that proves nothing.
  if (found.requests == 0 && sent > kFewSent) found.requests = sent;
  found.hopeless = latency.count() == 0 || grows(pass, bound);
  if (found.requests == 0 || latency.count() == 0) return found;

  const Duration own = latency.quantile(1 - allowed_share(bound));
  const Duration threshold = std::min(own, bound.bound);
  double sum = 0;
  for (const Window& window : windows) sum += above_in(window, threshold);
  for (const Window& window : windows) {
    const double off = above_in(window, threshold) - sum / found.windows;
    found.variance += off * off / (found.windows - 1);
  }
  found.independent = sum / found.windows * (1 - sum / found.requests);
  found.usually_above = allowed_share(bound) * found.requests / found.windows;
  const double near = std::min(seconds_of(own) / seconds_of(bound.bound), 1.0);
  found.usual_cluster =
      std::max(kClusterBounds * seconds_of(bound.bound) * pass.load * near * near, 1.0);
  return found;
}

TrialEvidence evidence_of(const TrialFigures& trial, std::span<const TrialFigures> others) {
  if (trial.requests == 0) return {};
  if (trial.hopeless) return {kOverloadIs, kOverloadIs};
  double independent = kGuessIsWorth * std::max(trial.independent, trial.usually_above);
  double variance = independent * trial.usual_cluster;
  const auto add = [&](const TrialFigures& each) {
    independent += each.independent * each.windows;
    variance += each.variance * each.windows;
  };
  add(trial);
  for (const TrialFigures& other : others) add(other);
  const double cluster = independent > 0 ? std::max(kCaution * variance / independent, 1.0) : 1;
  const TrialEvidence evidence{trial.requests / cluster, trial.above / cluster};
  if (trial.above < kOverloaded * trial.requests || evidence.above < kOverloadIs) return evidence;
  return {kOverloadIs * trial.requests / trial.above, kOverloadIs};
}

TrialVerdict judge_trial(const Pass& pass, const LatencyBound& bound) {
  using enum TrialVerdict::Outcome;
  const TrialEvidence evidence = evidence_of(weigh_trial(pass, bound), {});
  if (evidence.requests == 0) return {};
  const double allowed = allowed_share(bound);
  const double off = (evidence.above - allowed * evidence.requests) /
                     std::sqrt(allowed * (1 - allowed) * evidence.requests);
  TrialVerdict verdict{.likely_keeps = off <= 0};
  if (std::abs(off) > kSure) verdict.outcome = off > 0 ? kBreaks : kKeeps;
  return verdict;
}

}  // namespace proa::loadgen
