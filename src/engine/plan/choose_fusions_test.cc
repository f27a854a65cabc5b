#include "engine/plan/choose_fusions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

using testing::ElementsAre;

constexpr auto kNone = std::nullopt;

// Of `steps` steps and fusions over {first, count}, in the order of their first steps.
Plan plan_of(std::size_t steps, const std::vector<std::pair<std::size_t, std::size_t>>& fusions) {
  Plan plan;
  plan.steps.resize(steps);
  for (const auto& [first, count] : fusions) plan.fusions.push_back({first, count, {}});
  return plan;
}

std::vector<std::optional<std::size_t>> choose(const Plan& plan, std::vector<float> step_times,
                                               std::vector<float> fusion_times) {
  return choose_fusions(plan, step_times, fusion_times);
}

TEST(ChooseFusionsTest, TakesWhatIsNoSlowerThanItsSteps) {
  const Plan plan = plan_of(4, {{1, 2}});
  EXPECT_THAT(choose(plan, {1, 2, 3, 4}, {4}), ElementsAre(kNone, 0u, 0u, kNone));
  EXPECT_THAT(choose(plan, {1, 2, 3, 4}, {5}), ElementsAre(kNone, 0u, 0u, kNone));
  EXPECT_THAT(choose(plan, {1, 2, 3, 4}, {5.5f}), ElementsAre(kNone, kNone, kNone, kNone));
}

TEST(ChooseFusionsTest, TwoSmallGainsBeatALargeOneBetweenThem) {
  const Plan plan = plan_of(4, {{0, 2}, {1, 2}, {2, 2}});
  // Gains of 3, 4 and 3: the middle one excludes both others.
  EXPECT_THAT(choose(plan, {5, 5, 5, 5}, {7, 6, 7}), ElementsAre(0u, 0u, 2u, 2u));
  EXPECT_THAT(choose(plan, {5, 5, 5, 5}, {9, 6, 9}), ElementsAre(kNone, 1u, 1u, kNone));
}

TEST(ChooseFusionsTest, TheBestOfThoseThatBeginTogetherIsTaken) {
  const Plan plan = plan_of(3, {{0, 2}, {0, 3}});
  EXPECT_THAT(choose(plan, {4, 4, 4}, {5, 10}), ElementsAre(0u, 0u, kNone));
  EXPECT_THAT(choose(plan, {4, 4, 4}, {5, 8}), ElementsAre(1u, 1u, 1u));
}

TEST(ChooseFusionsTest, UntimedFusionsAreLeftAndUntimedStepsAvoided) {
  const Plan plan = plan_of(4, {{0, 2}, {2, 2}});
  EXPECT_THAT(choose(plan, {1, kUntimed, 1, 1}, {50, kUntimed}), ElementsAre(0u, 0u, kNone, kNone));
  EXPECT_THAT(choose(plan, {kUntimed, kUntimed, 1, 1}, {kUntimed, 1.5f}),
              ElementsAre(kNone, kNone, 1u, 1u));
}

TEST(ChooseFusionsTest, WhatACacheNamesWithoutATimeIsTaken) {
  EXPECT_THAT(choose(plan_of(2, {{0, 2}}), {kUntimed, 3}, {0}), ElementsAre(0u, 0u));
}

TEST(ChooseFusionsTest, OfEqualOnesOnlyOneHasAStep) {
  const Plan plan = plan_of(3, {{0, 2}, {1, 2}});
  EXPECT_THAT(choose(plan, {2, 2, 2}, {3, 3}), ElementsAre(0u, 0u, kNone));
}

TEST(ChooseFusionsTest, APlanWithoutFusionsHasNone) {
  EXPECT_THAT(choose(plan_of(2, {}), {1, 2}, {}), ElementsAre(kNone, kNone));
  EXPECT_THAT(choose(plan_of(0, {}), {}, {}), ElementsAre());
}

}  // namespace
}  // namespace proa::engine
