// Does --find-max find what a queue of known capacity can do?
#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "loadgen/questions/find_max.h"
#include "loadgen/questions/trial.h"
#include "loadgen/testing/queue_model.h"

namespace proa::loadgen {
namespace {

using std::chrono::milliseconds;

// Eight at once, 5 ms each: 1600 a second. With Poisson arrivals p99 is 20 ms at 1460 a second, in
// 6000 s of the same queue.
constexpr int kSlots = 8;
constexpr double kCapacity = 1600;
constexpr double kPoissonMaximum = 1460;
const LatencyBound kBound{milliseconds(20), 99};

FindMaxResult search(testing::QueueModel& model, bool poisson, std::uint64_t seed) {
  std::vector<Pass> passes;
  const auto found =
      find_max({.bound = kBound, .poisson = poisson, .seed = 1000 * seed}, model.runner(), passes);
  return found ? *found : FindMaxResult();
}

TEST(FindMaxTruthTest, EvenArrivals) {
  testing::QueueModel model(kSlots, milliseconds(5));
  const FindMaxResult found = search(model, false, 1);
  ASSERT_TRUE(found.found) << found.text;
  EXPECT_NEAR(found.rate, kCapacity, 0.01 * kCapacity) << found.text;
  EXPECT_LT(model.run_s, 120);
}

TEST(FindMaxTruthTest, PoissonArrivals) {
  int within = 0;
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    testing::QueueModel model(kSlots, milliseconds(5));
    const FindMaxResult found = search(model, true, seed);
    ASSERT_TRUE(found.found) << found.text;
    EXPECT_NEAR(found.rate, kPoissonMaximum, 0.03 * kPoissonMaximum) << found.text;
    within += std::abs(found.rate / kPoissonMaximum - 1) <= 0.02 ? 1 : 0;
    covered += found.rate_low <= kPoissonMaximum && kPoissonMaximum <= found.rate_high ? 1 : 0;
    EXPECT_LT(model.run_s, 260);
  }
  EXPECT_GE(within, 7);
  EXPECT_GE(covered, 6);
}

// A rate 3 % beyond keeps the bound by chance in a short trial; that must not count for much.
TEST(FindMaxTruthTest, AShortTrialIsLittleEvidence) {
  testing::QueueModel model(kSlots, milliseconds(5));
  model.most_windows = 8;
  double most_requests = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto pass = model.run(
        {.shape = LoadShape::kPoissonRate, .value = 1.03 * kPoissonMaximum, .seed = seed}, nullptr);
    const TrialVerdict verdict = judge_trial(*pass, kBound);
    EXPECT_NE(verdict.outcome, TrialVerdict::Outcome::kKeeps) << seed;
    most_requests = std::max(most_requests, evidence_of(weigh_trial(*pass, kBound), {}).requests);
  }
  EXPECT_LT(most_requests, 100);  // of 3700
}

// A queue at 95 % of its capacity wanders by chance and does not grow without end.
TEST(FindMaxTruthTest, WanderingIsNotGrowing) {
  testing::QueueModel model(kSlots, milliseconds(5));
  int growing = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto pass = model.run(
        {.shape = LoadShape::kPoissonRate, .value = 0.95 * kCapacity, .seed = seed}, nullptr);
    growing += queue_growth(pass->series, milliseconds(1500), pass->load) > 0 ? 1 : 0;
  }
  EXPECT_LE(growing, 1);
  const auto over =
      model.run({.shape = LoadShape::kConstantRate, .value = 1.01 * kCapacity}, nullptr);
  EXPECT_NEAR(queue_growth(over->series, milliseconds(1500), over->load), 0.01, 0.002);
}

}  // namespace
}  // namespace proa::loadgen
