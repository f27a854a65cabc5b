#include <cmath>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loadgen/questions/find_max.h"
#include "loadgen/questions/range.h"
#include "loadgen/questions/trial.h"

namespace proa::loadgen {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration kWindow = milliseconds(500);
constexpr int kPointsInWindow = 5;

// A server that answers within `service` until `capacity` requests a second come; beyond it a queue
// grows. Runs windows until the verdict, or 24.
class ModelServer {
 public:
  ModelServer(double capacity, Duration service) : capacity_(capacity), service_(service) {}

  double noise = 0;    // share of the service time, by chance
  bool late = false;   // the generator cannot keep up
  bool fails = false;  // every request
  int passes = 0;
  int interrupt_at = 0;  // this pass is interrupted

  Result<Pass> run(const Load& load, const PassVerdict& verdict) {
    ++passes;
    Pass pass;
    pass.shape = load.shape;
    pass.load = load.value;
    const double in_flight_rate = load.value * 1e9 / static_cast<double>(service_.count());
    const double rate = pass.open_loop() ? load.value : std::min(in_flight_rate, capacity_);
    double waiting = 0;
    for (int window = 0; window < 24; ++window) {
      add_window(pass, rate, waiting);
      if (verdict != nullptr && verdict(pass)) break;
    }
    for (Window& window : pass.windows) {
      window.used = true;
      pass.latencies.from_due.merge(window.latency);
      pass.counts.add(window.counts);
      pass.measured += window.duration;
    }
    if (fails) pass.errors = {{"HTTP 503", pass.counts.errors, "all is broken"}};
    pass.valid = !late;
    pass.health.reason = late ? "it was late" : "";
    pass.interrupted = passes == interrupt_at;
    pass.stability.stable = true;
    return pass;
  }

  RunPass runner() {
    return [this](const Load& load, const PassVerdict& verdict) { return run(load, verdict); };
  }

 private:
  void add_window(Pass& pass, double rate, double& waiting) {
    Window window;
    window.start = kWindow * static_cast<int>(pass.windows.size());
    window.duration = kWindow;
    const double seconds = static_cast<double>(kWindow.count()) / 1e9 / kPointsInWindow;
    for (int i = 0; i < kPointsInWindow; ++i) {
      waiting = std::max(waiting + (rate - capacity_) * seconds, 0.0);
      const double busy = rate * static_cast<double>(service_.count()) / 1e9;
      SeriesPoint point;
      point.start = window.start + kWindow / kPointsInWindow * i;
      point.duration = kWindow / kPointsInWindow;
      point.in_flight = static_cast<std::uint64_t>(std::llround(waiting + busy));
      pass.series.push_back(point);
    }
    // Whole requests, as many as are due by the end of the window.
    const auto begun = static_cast<double>(pass.windows.size());
    const auto within = [&](double per_second) {
      return static_cast<std::uint64_t>(std::floor(per_second * 0.5 * (begun + 1)) -
                                        std::floor(per_second * 0.5 * begun));
    };
    const std::uint64_t completed = within(std::min(rate, capacity_));
    window.counts.sent = within(rate);
    if (fails) {
      window.counts.errors = window.counts.sent;
      pass.windows.push_back(std::move(window));
      return;
    }
    window.counts.completed = window.counts.inferences = completed;
    std::uniform_real_distribution<double> draw(1 - noise, 1 + noise);
    for (std::uint64_t i = 0; i < completed; ++i) {
      const double ns =
          static_cast<double>(service_.count()) * draw(random_) + waiting / capacity_ * 1e9;
      window.latency.record(Duration(std::llround(ns)));
    }
    pass.windows.push_back(std::move(window));
  }

  const double capacity_;
  const Duration service_;
  std::mt19937_64 random_{1};
};

std::vector<double> loads_of(const std::vector<Pass>& passes) {
  std::vector<double> loads;
  for (const Pass& pass : passes) loads.push_back(pass.load);
  return loads;
}

TEST(QuestionsTest, FindsTheCapacityFromBelowAndFromAbove) {
  for (const double capacity : {37.0, 400.0, 2500.0}) {
    for (const double first : {0.0, 1.0, 300.0, 5000.0}) {
      ModelServer server(capacity, milliseconds(10));
      std::vector<Pass> passes;
      FindMaxOptions options{.bound = {milliseconds(100), 99}, .first_rate = first};
      const auto answer = find_max(options, server.runner(), passes);
      ASSERT_TRUE(answer);
      EXPECT_TRUE(answer->found) << answer->text;
      EXPECT_NEAR(answer->rate, capacity, 0.02 * capacity) << answer->text;
      EXPECT_LT(server.passes, 40);
      EXPECT_NEAR(passes.back().load, 1.5 * answer->rate, 1e-6);  // for the goodput
    }
  }
}

TEST(QuestionsTest, FindMaxSaysWhenNothingKeepsTheBound) {
  ModelServer server(100, milliseconds(200));
  std::vector<Pass> passes;
  const auto answer =
      find_max({.bound = {milliseconds(100), 99}, .first_rate = 10}, server.runner(), passes);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->found);
  EXPECT_THAT(answer->text, HasSubstr("no rate keeps p99 <= 100 ms"));

  ModelServer again(100, milliseconds(200));  // one request at a time shows it
  const auto at_once = find_max({.bound = {milliseconds(100), 99}}, again.runner(), passes);
  ASSERT_TRUE(at_once);
  EXPECT_FALSE(at_once->found);
  EXPECT_EQ(again.passes, 1);
  EXPECT_THAT(at_once->text, HasSubstr("one request at a time breaks it"));
}

TEST(QuestionsTest, FindMaxStopsWhereNothingIsAnswered) {
  ModelServer server(100, milliseconds(10));
  server.fails = true;
  std::vector<Pass> passes;
  const auto answer =
      find_max({.bound = {milliseconds(100), 99}, .first_rate = 10}, server.runner(), passes);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->found);
  EXPECT_THAT(loads_of(passes), ElementsAre(10));
  EXPECT_EQ(answer->text, "nothing is known, because nothing was answered at 10/s: all is broken");
}

TEST(QuestionsTest, FindMaxBlamesTheGeneratorWhereItIsToBlame) {
  ModelServer server(100, milliseconds(200));
  server.late = true;
  std::vector<Pass> passes;
  const auto answer =
      find_max({.bound = {milliseconds(100), 99}, .first_rate = 10}, server.runner(), passes);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->found);
  EXPECT_EQ(server.passes, 3);
  EXPECT_THAT(answer->text, HasSubstr("it was late"));
}

TEST(QuestionsTest, FindMaxStopsAtTheHighestRateAndWhenInterrupted) {
  ModelServer fast(1e9, milliseconds(1));
  std::vector<Pass> passes;
  auto answer = find_max({.bound = {milliseconds(100), 99}, .first_rate = 10, .highest_rate = 55},
                         fast.runner(), passes);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rate, 55);
  EXPECT_EQ(answer->lowest_broken, 0);

  ModelServer server(100, milliseconds(10));
  server.interrupt_at = 3;
  passes.clear();
  answer = find_max({.bound = {milliseconds(100), 99}, .first_rate = 10}, server.runner(), passes);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->found);
  EXPECT_EQ(answer->rate, 20);
  EXPECT_EQ(server.passes, 3);
}

TEST(QuestionsTest, TrialsNeedEvidence) {
  const auto judge = [](double capacity, double rate, Duration bound) {
    ModelServer server(capacity, milliseconds(50));
    server.noise = 0.2;
    const auto pass = server.run({.shape = LoadShape::kConstantRate, .value = rate}, nullptr);
    return judge_trial(*pass, {bound, 99});
  };
  const auto trial = [&](double rate, Duration bound) { return judge(100, rate, bound).outcome; };
  using enum TrialVerdict::Outcome;
  EXPECT_EQ(judge(1000, 900, milliseconds(5000)).outcome, kKeeps);
  EXPECT_EQ(trial(90, milliseconds(61)), kUnsure);  // so near, 10 s are not enough
  EXPECT_EQ(trial(90, milliseconds(50)), kBreaks);
  EXPECT_TRUE(judge(100, 102, milliseconds(5000)).likely_keeps);  // 1.2 s of queue in a minute
  EXPECT_EQ(trial(102, milliseconds(300)), kBreaks);
  ModelServer server(100, milliseconds(50));
  const auto first = server.run({.shape = LoadShape::kConstantRate, .value = 90},
                                [](const Pass& so_far) { return so_far.windows.size() == 4; });
  EXPECT_EQ(judge_trial(*first, {milliseconds(1), 99}).outcome, kUnsure);
}

TEST(QuestionsTest, RangesStopBeyondTheBound) {
  ModelServer server(100, milliseconds(10));
  std::vector<Load> loads;
  for (const double rate : {40, 80, 120, 160}) {
    loads.push_back({.shape = LoadShape::kConstantRate, .value = rate});
  }
  std::vector<Pass> passes;
  ASSERT_TRUE(run_range(loads, {milliseconds(50), std::nullopt}, server.runner(), passes));
  EXPECT_THAT(loads_of(passes), ElementsAre(40, 80, 120));
  passes.clear();
  ASSERT_TRUE(run_range(loads, {}, server.runner(), passes));
  EXPECT_EQ(passes.size(), 4U);
}

TEST(QuestionsTest, BinarySearchFindsTheLargestStep) {
  for (const double capacity : {1.0, 9.0, 37.0, 40.0, 1000.0}) {
    ModelServer server(capacity + 0.5, milliseconds(10));
    std::vector<Pass> passes;
    const auto best = run_binary_search({.shape = LoadShape::kConstantRate}, 4, 64, 4,
                                        {milliseconds(50), 99}, server.runner(), passes);
    ASSERT_TRUE(best);
    if (capacity < 4) {
      EXPECT_FALSE(*best);
      continue;
    }
    ASSERT_TRUE(*best);
    EXPECT_EQ(passes[**best].load, std::min(std::floor(capacity / 4) * 4, 64.0)) << capacity;
    EXPECT_LE(server.passes, 6);
  }
}

TEST(QuestionsTest, FindsTheKneeAndTheGoodput) {
  ModelServer server(100, milliseconds(10));
  std::vector<Pass> passes;
  std::vector<Load> loads;
  for (const double rate : {20, 60, 95, 150, 300}) {
    loads.push_back({.shape = LoadShape::kConstantRate, .value = rate});
  }
  ASSERT_TRUE(run_range(loads, {}, server.runner(), passes));
  const auto knee = find_knee(passes);
  ASSERT_TRUE(knee);
  EXPECT_EQ(knee->pass, 2U);
  const auto goodput = find_goodput(passes, {milliseconds(500), 99});
  ASSERT_EQ(goodput.size(), 2U);
  EXPECT_EQ(goodput[0].pass, 3U);
  EXPECT_LT(goodput[0].good_per_second, 20);  // almost all of 12 s wait longer than half a second
  passes.resize(2);
  EXPECT_FALSE(find_knee(passes));
}

TEST(QuestionsTest, AServerThatKeepsUpHasNoKnee) {
  ModelServer server(1000, milliseconds(10));
  std::vector<Pass> passes;
  std::vector<Load> loads;
  for (int i = 1; i <= 20; ++i)
    loads.push_back({.shape = LoadShape::kConstantRate, .value = 10.0 * i});
  ASSERT_TRUE(run_range(loads, {}, server.runner(), passes));
  EXPECT_FALSE(find_knee(passes));
  // Neither has one whose throughput grows with the requests in flight.
  for (Pass& pass : passes) pass.shape = LoadShape::kConcurrency;
  EXPECT_FALSE(find_knee(passes));
}

TEST(QuestionsTest, ABinarySearchDoesNotBelieveAnInvalidPass) {
  ModelServer server(100, milliseconds(10));
  std::vector<Pass> passes;
  const RunPass invalid = [&](const Load& load, const PassVerdict& verdict) -> Result<Pass> {
    auto pass = server.runner()(load, verdict);
    if (pass && load.value > 20) pass->valid = false;
    return pass;
  };
  const auto best = run_binary_search({.shape = LoadShape::kConstantRate}, 4, 64, 4,
                                      {milliseconds(50), 99}, invalid, passes);
  ASSERT_TRUE(best && *best);
  EXPECT_EQ(passes[**best].load, 20);
}

}  // namespace
}  // namespace proa::loadgen
