#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

#include "base/result.h"
#include "loadgen/questions/question.h"

namespace proa::loadgen::testing {

// A server in which so many requests are served at once, each for `service`, and others queue in
// order: what tests/scripted_server does with --slots, in no time. Its capacity is slots / service.
// Answers RunPass with windows of half a second until the verdict, or `most_windows`.
class QueueModel {
 public:
  QueueModel(int slots, Duration service) : slots_(slots), service_(seconds(service)) {}

  int most_windows = 40;
  double run_s = 0;  // what all passes took

  Result<Pass> run(const Load& load, const PassVerdict& verdict) {
    Pass pass;
    pass.shape = load.shape;
    pass.load = load.value;
    Requests requests(load, slots_);
    for (int window = 0; window < most_windows; ++window) {
      add_window(pass, requests);
      if (verdict != nullptr && verdict(pass)) break;
    }
    for (Window& window : pass.windows) {
      window.used = true;
      pass.latencies.from_due.merge(window.latency);
      pass.counts.add(window.counts);
      pass.measured += window.duration;
    }
    pass.stability.stable = true;
    run_s += seconds(pass.measured);
    return pass;
  }

  RunPass runner() {
    return [this](const Load& load, const PassVerdict& verdict) { return run(load, verdict); };
  }

 private:
  static constexpr Duration kPoint = std::chrono::milliseconds(25);
  static constexpr int kPointsInWindow = 20;

  struct Requests {
    Requests(const Load& load, int slots)
        : load(load), random(load.seed), free_at(static_cast<std::size_t>(slots)) {}

    const Load load;
    std::mt19937_64 random;
    std::deque<double> free_at;                       // of the slots; the first is free first
    double due = 0;                                   // of the next one, open loop
    std::deque<std::pair<double, double>> under_way;  // due, done
  };

  static double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }

  double next_due(Requests& requests) const {
    if (requests.load.shape == LoadShape::kConcurrency) {
      return requests.under_way.empty() ? requests.due : requests.under_way.back().second;
    }
    if (requests.load.shape == LoadShape::kConstantRate)
      return requests.due + 1 / requests.load.value;
    return requests.due +
           std::exponential_distribution<double>(requests.load.value)(requests.random);
  }

  void add_window(Pass& pass, Requests& requests) {
    Window window;
    window.start = kPoint * kPointsInWindow * static_cast<int>(pass.windows.size());
    window.duration = kPoint * kPointsInWindow;
    for (int i = 0; i < kPointsInWindow; ++i) {
      SeriesPoint point;
      point.start = window.start + kPoint * i;
      point.duration = kPoint;
      const double end = seconds(point.start + kPoint);
      while (requests.due < end) {
        const double done = std::max(requests.due, requests.free_at.front()) + service_;
        requests.free_at.pop_front();
        requests.free_at.push_back(done);
        requests.under_way.emplace_back(requests.due, done);
        ++window.counts.sent;
        requests.due = next_due(requests);
      }
      while (!requests.under_way.empty() && requests.under_way.front().second < end) {
        const auto [due, done] = requests.under_way.front();
        requests.under_way.pop_front();
        window.latency.record(Duration(std::llround((done - due) * 1e9)));
        ++window.counts.completed;
        ++window.counts.inferences;
      }
      point.in_flight = requests.under_way.size();
      pass.series.push_back(point);
    }
    pass.windows.push_back(std::move(window));
  }

  const int slots_;
  const double service_;
};

}  // namespace proa::loadgen::testing
