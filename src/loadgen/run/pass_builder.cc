#include "loadgen/run/pass_builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "loadgen/measure/generator_health.h"

namespace proa::loadgen {
namespace {

// Windows of so many requests: at least this long, and at most so many intervals.
constexpr Duration kShortestCountWindow = std::chrono::seconds(1);
constexpr int kLongestCountWindow = 10;

LatencyHistogram merged_latency(const Slice& slice) {
  LatencyHistogram merged;
  for (const ModelPass& model : slice.models) merged.merge(model.latencies.from_due);
  return merged;
}

double per_second(double count, Duration duration) {
  return duration.count() <= 0 ? 0 : count * 1e9 / static_cast<double>(duration.count());
}

}  // namespace

PassBuilder::PassBuilder(const PassOptions& options, const Load& load, Duration slice_length)
    : options_(options),
      slice_length_(slice_length),
      arrivals_left_(load.requests > 0 ? load.requests
                                       : std::numeric_limits<std::uint64_t>::max()) {
  pass_.shape = load.shape;
  pass_.load = load.mean_value();
  pass_.load_text = load.to_string();
  if (pass_.open_loop()) {
    arrivals_ = make_arrivals(load);
    next_arrival_ = arrivals_->next();
  }
}

bool PassBuilder::add(Slice slice) {
  append_point(slice);
  if (open_) {
    open_->slice.append(slice);
  } else {
    open_.emplace(WindowParts{std::move(slice), 0});
    open_start_ = pass_.series.back().start;
  }
  const SeriesPoint& point = pass_.series.back();
  open_->asked += point.asked_rate * static_cast<double>(point.duration.count()) / 1e9;
  const Duration length = point.start + point.duration - open_start_;
  const bool full = window_is_full(length);
  if (full) close_window(length);
  return full;
}

bool PassBuilder::window_is_full(Duration length) const {
  if (options_.window_requests == 0) return length >= options_.interval;
  if (length < kShortestCountWindow) return false;
  const Counts counts = open_->slice.counts();
  return counts.completed + counts.errors >= options_.window_requests ||
         length >= options_.interval * kLongestCountWindow;
}

Duration PassBuilder::quiet() const {
  const SeriesPoint& last = pass_.series.back();
  return last.start + last.duration - last_event_;
}

void PassBuilder::add_late(const Slice& slice) { keep_errors_and_records(slice); }

void PassBuilder::add_snapshot(std::optional<ServerSnapshot> snapshot) {
  snapshots_.push_back(std::move(snapshot));
}

void PassBuilder::keep_errors_and_records(const Slice& slice) {
  for (const auto& [kind, group] : slice.errors) {
    const auto [mine, is_new] = all_errors_.try_emplace(kind, group);
    if (!is_new) mine->second.count += group.count;
  }
  pass_.requests.insert(pass_.requests.end(), slice.requests.begin(), slice.requests.end());
}

void PassBuilder::append_point(Slice& slice) {
  SeriesPoint point;
  point.start =
      pass_.series.empty() ? Duration(0) : pass_.series.back().start + pass_.series.back().duration;
  point.duration = slice_length_;
  point.counts = slice.counts();
  total_.add(point.counts);
  if (point.counts.sent + point.counts.completed + point.counts.errors > 0) {
    last_event_ = point.start + point.duration;
  }
  point.in_flight = slice.in_flight;
  std::uint64_t asked = 0;
  while (arrivals_ != nullptr && arrivals_left_ > 0 &&
         next_arrival_ < point.start + point.duration) {
    ++asked;
    --arrivals_left_;
    next_arrival_ = arrivals_->next();
  }
  asked_ += asked;
  point.asked_rate = per_second(static_cast<double>(asked), point.duration);
  const LatencyHistogram latency = merged_latency(slice);
  point.p50 = latency.quantile(0.5);
  point.p99 = latency.quantile(0.99);
  point.max = latency.max();
  pass_.series.push_back(point);
  keep_errors_and_records(slice);
  slice.requests.clear();
}

void PassBuilder::close_window(Duration length) {
  Window window;
  window.start = open_start_;
  window.duration = length;
  window.counts = open_->slice.counts();
  window.latency = merged_latency(open_->slice);
  pass_.windows.push_back(std::move(window));
  parts_.push_back(std::move(*open_));
  open_.reset();
}

bool PassBuilder::settled() const { return judge_windows(pass_.windows, options_.rule).stable; }

// Those whose figures are the pass's: the last three where they agree, else all but the first,
// which holds the warm-up.
std::pair<std::size_t, std::size_t> PassBuilder::used_windows(bool all) const {
  const std::size_t count = pass_.windows.size();
  if (all || count <= kWindowsThatAgree) return {0, count};
  return {settled() ? count - kWindowsThatAgree : 1, count};
}

void PassBuilder::sum_up(std::size_t first, std::size_t last) {
  Slice sum(options_.worker.picker.sets.size(), 0);
  double asked = 0;
  pass_.measured = Duration(0);
  for (std::size_t i = 0; i < pass_.windows.size(); ++i) {
    pass_.windows[i].used = i >= first && i < last;
    if (!pass_.windows[i].used) continue;
    sum.append(parts_[i].slice);
    asked += parts_[i].asked;
    pass_.measured += pass_.windows[i].duration;
  }
  pass_.counts = sum.counts();
  pass_.latencies = {};
  for (const ModelPass& model : sum.models) pass_.latencies.merge(model.latencies);
  GeneratorHealth& health = pass_.health;
  health.late_bound = options_.worker.late_bound;
  judge_generator({sum, pass_.measured, pass_.open_loop(), asked, pass_.latencies.from_due},
                  health);
  pass_.valid = !health.saturated;
  pass_.models = std::move(sum.models);
}

const Pass& PassBuilder::so_far(int threads) {
  pass_.health.threads = threads;
  const auto [first, last] = used_windows(false);
  sum_up(first, last);
  return pass_;
}

Pass PassBuilder::finish(bool interrupted, bool ends_by_itself,
                         const Client::Statistics& connections, int threads) {
  if (open_ && (ends_by_itself || pass_.windows.empty())) {
    const SeriesPoint& last = pass_.series.back();
    Duration length = last.start + last.duration - open_start_;
    const Duration until_last_answer = open_->slice.last_done - open_start_;
    if (ends_by_itself && until_last_answer.count() > 0)
      length = std::min(length, until_last_answer);
    close_window(length);
  }
  pass_.interrupted = interrupted;
  pass_.health.threads = threads;
  pass_.health.connections = connections.connections;
  pass_.health.reconnects = connections.reconnects;
  const auto [first, last] = used_windows(ends_by_itself);
  sum_up(first, last);
  if (!pass_.series.empty())
    pass_.duration = pass_.series.back().start + pass_.series.back().duration;
  if (!ends_by_itself) {
    compare_snapshots(first, last);
  } else if (snapshots_.size() > 1) {
    compare_snapshots(0, snapshots_.size() - 1);
  }
  for (auto& [kind, group] : all_errors_) pass_.errors.push_back(std::move(group));
  std::ranges::sort(pass_.errors, std::greater(), &ErrorGroup::count);
  judge_stability(ends_by_itself);
  return std::move(pass_);
}

void PassBuilder::compare_snapshots(std::size_t first, std::size_t last) {
  if (last >= snapshots_.size() || !snapshots_[first] || !snapshots_[last]) return;
  pass_.server = difference(*snapshots_[first], *snapshots_[last]);
  pass_.metrics = side_by_side(*snapshots_[first], *snapshots_[last]);
}

void PassBuilder::judge_stability(bool ends_by_itself) {
  pass_.stability = judge_windows(pass_.windows, options_.rule);
  if (ends_by_itself && !pass_.interrupted && pass_.counts.completed > 0) {
    pass_.stability.stable = true;  // it was asked for as it is
  }
  LatencyHistogram latency;
  Evidence evidence;
  for (std::size_t i = 0; i < pass_.windows.size(); ++i) {
    if (i > 0 || pass_.windows.size() == 1) latency.merge(pass_.windows[i].latency);
    evidence.in_flight.push_back(static_cast<double>(parts_[i].slice.in_flight));
  }
  evidence.windows = pass_.windows;
  evidence.latency = &latency;
  evidence.open_loop = pass_.open_loop();
  evidence.saturated = pass_.health.saturated;
  evidence.interrupted = pass_.interrupted;
  explain(evidence, options_.rule, pass_.stability);
}

}  // namespace proa::loadgen
