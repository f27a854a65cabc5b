#include "core/ensemble_plan.h"

#include <algorithm>
#include <array>

#include "core/testing/ensembles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::core {
namespace {

using testing::ElementsAre;

TEST(EnsemblePlanTest, StepsMayStandInAnyOrder) {
  config::ModelConfig config = diamond_config();
  std::ranges::reverse(config.ensemble->steps);  // join, right, left, top
  const EnsemblePlan plan = make_ensemble_plan(config);
  EXPECT_EQ(plan.order.front(), 3u);
  EXPECT_EQ(plan.order.back(), 0u);
  EXPECT_FALSE(plan.chain);
  EXPECT_TRUE(make_ensemble_plan(chain_config("e", {"a", "b", "c"})).chain);
}

TEST(EnsemblePlanTest, AVersionOfMinusOneIsTheLatest) {
  config::ModelConfig config = chain_config("e", {"a", "b"});
  config.ensemble->steps[1].version = 3;
  const EnsemblePlan plan = make_ensemble_plan(config);
  EXPECT_EQ(plan.steps[0].version, "");
  EXPECT_EQ(plan.steps[1].version, "3");
}

TEST(EnsemblePlanTest, ARouteHoldsWhatTheOutputsNeed) {
  config::ModelConfig config = diamond_config();
  config.ensemble->steps.pop_back();
  config.outputs[0].name = "l";
  config.outputs[1].name = "r";
  const EnsemblePlan plan = make_ensemble_plan(config);
  EXPECT_THAT(make_ensemble_route(plan, {}).needed, ElementsAre(true, true, true));
  const std::array<std::uint16_t, 1> right = {1};
  const EnsembleRoute route = make_ensemble_route(plan, right);
  EXPECT_THAT(route.needed, ElementsAre(true, false, true));
  EXPECT_EQ(route.waits[plan.answer()], 1);
}

TEST(EnsemblePlanTest, ATensorReadTwiceByAStepCountsTwice) {
  config::ModelConfig config = chain_config("e", {"a"});
  config.ensemble->steps[0].inputs["INPUT1"] = "INPUT0";
  const EnsemblePlan plan = make_ensemble_plan(config);
  const EnsembleRoute route = make_ensemble_route(plan, {});
  EXPECT_EQ(route.readers[plan.inputs[0]].size(), 2u);
  EXPECT_EQ(route.waits[0], 2);
}

}  // namespace
}  // namespace proa::core
