#include "loadgen/measure/stability.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

Window make_window(std::uint64_t completed, Duration latency, std::uint64_t errors = 0) {
  Window window;
  window.duration = seconds(1);
  window.counts.completed = completed;
  window.counts.errors = errors;
  for (std::uint64_t i = 0; i < completed; ++i) window.latency.record(latency);
  return window;
}

TEST(StabilityTest, ThreeWindowsMustAgree) {
  const StabilityRule rule{.percentage = 10, .percentile = 99};
  std::vector<Window> windows = {make_window(100, milliseconds(5)),
                                 make_window(200, milliseconds(5))};
  EXPECT_FALSE(judge_windows(windows, rule).stable);
  windows.push_back(make_window(205, milliseconds(5)));
  EXPECT_FALSE(judge_windows(windows, rule).stable);  // the first is far off
  windows.push_back(make_window(195, milliseconds(5)));
  const Stability settled = judge_windows(windows, rule);
  EXPECT_TRUE(settled.stable);
  EXPECT_NEAR(settled.rate_spread, 0.05, 1e-9);
  windows.push_back(make_window(200, milliseconds(7)));  // the same rate, another latency
  EXPECT_FALSE(judge_windows(windows, rule).stable);
  EXPECT_FALSE(judge_windows({}, rule).stable);
}

TEST(StabilityTest, NothingAnsweredIsNotStable) {
  const std::vector<Window> windows(3, make_window(0, milliseconds(1), 50));
  EXPECT_FALSE(judge_windows(windows, {}).stable);
}

Stability explained(const std::vector<Window>& windows, Evidence evidence = {},
                    StabilityRule rule = {.percentage = 10, .percentile = 99}) {
  LatencyHistogram latency;
  for (const Window& window : windows) latency.merge(window.latency);
  evidence.windows = windows;
  evidence.latency = &latency;
  Stability stability = judge_windows(windows, rule);
  explain(evidence, rule, stability);
  return stability;
}

TEST(StabilityTest, NamesTheReason) {
  std::vector<Window> drifting;
  for (int i = 1; i <= 5; ++i) drifting.push_back(make_window(5000, milliseconds(10 * i)));
  EXPECT_EQ(explained(drifting).reason, Instability::kDrift);
  EXPECT_THAT(explained(drifting).text, HasSubstr("p99 latency keeps rising"));

  Evidence waiting{.open_loop = true, .in_flight = {10, 50, 90, 130, 170}};
  EXPECT_EQ(explained(drifting, waiting).reason, Instability::kServerOverloaded);
  EXPECT_EQ(explained(drifting, {.saturated = true}).reason, Instability::kGeneratorSaturated);

  const std::vector<Window> failing(3, make_window(0, milliseconds(1), 9));
  EXPECT_EQ(explained(failing).reason, Instability::kErrors);
  EXPECT_EQ(explained({make_window(5, milliseconds(1))}).reason, Instability::kTooFewWindows);

  const std::vector<Window> few = {make_window(20, milliseconds(1)),
                                   make_window(22, milliseconds(9)),
                                   make_window(18, milliseconds(2))};
  EXPECT_EQ(explained(few).reason, Instability::kFewRequests);
  EXPECT_THAT(explained(few).text, HasSubstr("--measurement-interval"));

  std::vector<Window> swinging;
  for (const int ms : {2, 30, 2, 2, 30, 30}) {
    swinging.push_back(make_window(3000, milliseconds(ms)));
  }
  EXPECT_EQ(explained(swinging).reason, Instability::kBimodal);

  const std::vector<Window> noisy = {make_window(3000, microseconds(1000)),
                                     make_window(2000, microseconds(1100)),
                                     make_window(3500, microseconds(1050))};
  EXPECT_EQ(explained(noisy).reason, Instability::kNoise);
}

TEST(StabilityTest, StablePassesNeedNoReason) {
  const std::vector<Window> windows(3, make_window(5000, milliseconds(2)));
  EXPECT_EQ(explained(windows).reason, Instability::kNone);
  EXPECT_EQ(explained(windows).text, "");
}

TEST(StabilityTest, TellsTwoGroupsFromOne) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> draw(std::log(5e6), 0.2);
  LatencyHistogram one;
  LatencyHistogram two;
  for (int i = 0; i < 10'000; ++i) {
    const auto value = static_cast<std::int64_t>(draw(random));
    one.record(Duration(value));
    two.record(Duration(i % 10 == 0 ? 8 * value : value));
  }
  EXPECT_FALSE(is_bimodal(one));
  EXPECT_TRUE(is_bimodal(two));
  EXPECT_FALSE(is_bimodal(LatencyHistogram()));
}

TEST(StabilityTest, TrendsNeedALine) {
  const auto of = [](std::vector<double> values) { return trend(values); };
  EXPECT_EQ(of({1, 2, 3}), 0);
  EXPECT_EQ(of({1, 2, 3, 4}), 1);
  EXPECT_EQ(of({9, 7, 6, 2, 1}), -1);
  EXPECT_EQ(of({1, 5, 1, 5, 1}), 0);
  EXPECT_EQ(of({3, 3, 3, 3}), 0);
}

}  // namespace
}  // namespace proa::loadgen
