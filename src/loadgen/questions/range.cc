#include "loadgen/questions/range.h"

#include <algorithm>
#include <cmath>

namespace proa::loadgen {
namespace {

constexpr double kFailedShare = 0.01;
constexpr double kKneeShare = 0.9;
constexpr double kAnswered = 0.95;  // of an open loop's rate, by a server that keeps up

}  // namespace

bool keeps(const Pass& pass, const LatencyBound& bound) {
  const auto completed = static_cast<double>(pass.counts.completed);
  const auto errors = static_cast<double>(pass.counts.errors);
  if (completed == 0 || errors > kFailedShare * (completed + errors)) return false;
  return chosen_latency(pass.latencies.from_due, {.percentile = bound.percentile}) <= bound.bound;
}

Status run_range(const std::vector<Load>& loads, const LatencyBound& bound, const RunPass& run,
                 std::vector<Pass>& passes) {
  for (const Load& load : loads) {
    PROA_ASSIGN(Pass pass, run(load, nullptr));
    passes.push_back(std::move(pass));
    if (passes.back().interrupted) break;
    if (bound.bound.count() > 0 && !keeps(passes.back(), bound)) break;
  }
  return {};
}

Result<std::optional<std::size_t>> run_binary_search(const Load& shape, double first, double last,
                                                     double step, const LatencyBound& bound,
                                                     const RunPass& run,
                                                     std::vector<Pass>& passes) {
  std::optional<std::size_t> best;
  bool interrupted = false;
  const auto keeps_at = [&](std::int64_t steps) -> Result<bool> {
    Load load = shape;
    load.value = first + static_cast<double>(steps) * step;
    PROA_ASSIGN(Pass pass, run(load, nullptr));
    interrupted = pass.interrupted;
    passes.push_back(std::move(pass));
    // What the generator could not send says nothing of the server.
    const bool kept = !interrupted && passes.back().valid && keeps(passes.back(), bound);
    if (kept && (!best || passes[*best].load < load.value)) best = passes.size() - 1;
    return kept;
  };
  std::int64_t low = 0;  // keeps the bound, once it was tried
  auto high = static_cast<std::int64_t>(std::floor((last - first) / step + 1e-9));
  PROA_ASSIGN(const bool lowest, keeps_at(low));
  if (!lowest || high == 0) return best;
  PROA_ASSIGN(const bool highest, keeps_at(high));
  if (highest) return best;
  while (high - low > 1 && !interrupted) {
    const std::int64_t middle = low + (high - low) / 2;
    PROA_ASSIGN(const bool kept, keeps_at(middle));
    (kept ? low : high) = middle;
  }
  return best;
}

namespace {

// Whether more load than the knee's was tried and brought hardly more.
bool is_passed(const std::vector<Pass>& passes, const Pass& knee) {
  const Pass& last = *std::ranges::max_element(passes, {}, &Pass::load);
  if (last.load <= knee.load) return false;
  if (last.open_loop()) return last.requests_per_second() < kAnswered * last.load;
  const double more_load = last.load / knee.load - 1;
  const double more = last.requests_per_second() / knee.requests_per_second() - 1;
  return more < more_load / 2;
}

}  // namespace

std::optional<Knee> find_knee(const std::vector<Pass>& passes) {
  if (passes.size() < 3 || !std::ranges::all_of(passes, &Pass::valid)) return std::nullopt;
  double best = 0;
  for (const Pass& pass : passes) best = std::max(best, pass.inferences_per_second());
  std::optional<Knee> knee;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const double share = best == 0 ? 0 : passes[i].inferences_per_second() / best;
    if (share < kKneeShare || (knee && passes[knee->pass].load <= passes[i].load)) continue;
    knee = Knee{i, share};
  }
  const auto smallest = std::ranges::min_element(passes, {}, &Pass::load) - passes.begin();
  if (!knee || knee->pass == static_cast<std::size_t>(smallest)) return std::nullopt;
  if (!is_passed(passes, passes[knee->pass])) return std::nullopt;
  return knee;
}

std::vector<Goodput> find_goodput(const std::vector<Pass>& passes, const LatencyBound& bound) {
  double highest_kept = 0;
  for (const Pass& pass : passes) {
    if (keeps(pass, bound)) highest_kept = std::max(highest_kept, pass.load);
  }
  std::vector<Goodput> found;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const Pass& pass = passes[i];
    if (pass.load <= highest_kept) continue;
    found.push_back(
        {i, pass.requests_per_second() * pass.latencies.from_due.share_at_most(bound.bound)});
  }
  return found;
}

}  // namespace proa::loadgen
