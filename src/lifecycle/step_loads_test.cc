#include "lifecycle/step_loads.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::lifecycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StepLoads::JobPtr job(const std::string& name) {
  return std::make_shared<LoadJob>(name, LoadRequest(), [](const Status&) {});
}

TEST(StepLoadsTest, AJobWaitsUntilAllLoadsOfItsStepsHaveEnded) {
  StepLoads loads;
  loads.set_steps("e", {"a", "b"}, false);
  loads.begin("a");
  loads.begin("a");
  loads.begin("b");
  loads.park(job("e"));
  loads.end("a");
  loads.end("b");
  EXPECT_TRUE(loads.steps_pending("e"));
  EXPECT_THAT(loads.take_ready(), IsEmpty());
  loads.end("a");
  EXPECT_FALSE(loads.has_waited("e"));
  ASSERT_EQ(loads.take_ready().size(), 1u);
  EXPECT_TRUE(loads.has_waited("e"));
  loads.end("e");
  EXPECT_FALSE(loads.has_waited("e"));
}

TEST(StepLoadsTest, AJobOfAModelThatIsToBeUnloadedWaitsNoLonger) {
  StepLoads loads;
  for (const char* name : {"e", "f", "g"}) loads.set_steps(name, {"a"}, false);
  loads.begin("a");
  const StepLoads::JobPtr first = job("e"), second = job("f"), third = job("g");
  for (const auto& each : {first, second, third}) loads.park(each);
  loads.begin_unload("f");
  loads.begin_unload("f");
  EXPECT_THAT(loads.take_ready(), ElementsAre(second));
  loads.park(second);
  loads.end_unload("f");
  EXPECT_TRUE(loads.unload_pending("f"));
  EXPECT_THAT(loads.take_ready(), ElementsAre(second));
  loads.end_unload("f");
  loads.park(second);
  EXPECT_THAT(loads.take_ready(), IsEmpty());
  loads.end("a");
  EXPECT_THAT(loads.take_ready(), ElementsAre(first, third, second));
}

TEST(StepLoadsTest, KnowsWhoseStepAModelIs) {
  StepLoads loads;
  loads.set_steps("e", {"a", "b"}, false);
  loads.set_steps("f", {"b"}, true);
  EXPECT_THAT(loads.ensembles_with("b"), ElementsAre("e", "f"));
  EXPECT_TRUE(loads.from_request("f"));
  loads.set_steps("e", {}, false);  // it is no ensemble any more
  EXPECT_THAT(loads.ensembles_with("b"), ElementsAre("f"));
  EXPECT_THAT(loads.steps_of("e"), IsEmpty());
}

TEST(StepLoadsTest, FindsCirclesAndNamesTheWay) {
  StepLoads loads;
  loads.set_steps("e", {"f", "x"}, false);
  loads.set_steps("f", {"g"}, false);
  EXPECT_TRUE(loads.check_circle("e"));
  loads.set_steps("g", {"e"}, false);
  EXPECT_THAT(loads.check_circle("e").error().message, HasSubstr("e -> f -> g -> e"));
  loads.set_steps("h", {"e"}, false);  // leads into the circle, but is not in it
  EXPECT_TRUE(loads.check_circle("h"));
}

TEST(StepLoadsTest, WhatServesCountsUntilTheNextHasLoaded) {
  StepLoads loads;
  loads.set_steps("chain", {"a", "b"}, false);
  loads.loaded("chain");
  loads.set_steps("chain", {"a", "c"}, false);  // and fails
  EXPECT_THAT(loads.ensembles_with("b"), ElementsAre("chain"));
  EXPECT_THAT(loads.all_steps_of("chain"), ElementsAre("a", "b", "c"));
  loads.set_steps("chain", {"a", "c"}, false);
  loads.loaded("chain");
  EXPECT_THAT(loads.ensembles_with("b"), IsEmpty());
  loads.set_steps("chain", {}, false);  // it is no ensemble any more
  EXPECT_THAT(loads.ensembles_with("a"), ElementsAre("chain"));
  loads.loaded("chain");
  EXPECT_THAT(loads.ensembles_with("a"), IsEmpty());
}

}  // namespace
}  // namespace proa::lifecycle
