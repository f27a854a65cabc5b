#include "lifecycle/poll_policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::lifecycle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ModelLook files(std::uint64_t size) {
  return sort_by_version({{"1/", 0, 0, 0, 0}, {"1/model.onnx", 1, 2, size, 3}});
}

const ModelLook kA = files(1);
const ModelLook kB = files(2);
const ModelLook kC = files(3);

TEST(PollPolicyTest, DecidesFromThreeLooks) {
  struct Row {
    const char* what;
    const ModelLook* loaded;
    const ModelLook* before;
    const ModelLook* now;
    PollAction wanted;
  };
  using enum PollAction;
  const Row rows[] = {
      {"nothing anywhere", nullptr, nullptr, nullptr, kNothing},
      {"loaded and unchanged", &kA, &kA, &kA, kNothing},
      {"loaded, never looked at before", &kA, nullptr, &kA, kNothing},
      {"changed a moment ago", &kA, &kA, &kB, kLookAgain},
      {"changed and settled", &kA, &kB, &kB, kLoad},
      {"still changing", &kA, &kB, &kC, kLookAgain},
      {"changed and changed back", &kA, &kB, &kA, kNothing},
      {"new, seen once", nullptr, nullptr, &kA, kLookAgain},
      {"new, settled", nullptr, &kA, &kA, kLoad},
      {"new, growing", nullptr, &kA, &kB, kLookAgain},
      {"gone a moment ago", &kA, &kA, nullptr, kLookAgain},
      {"gone for good", &kA, nullptr, nullptr, kUnload},
      {"came and went", nullptr, &kA, nullptr, kNothing},
      {"back under other files after it was gone", &kA, nullptr, &kB, kLookAgain},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(decide(row.loaded, row.before, row.now), row.wanted) << row.what;
  }
}

TEST(PollPolicyTest, RemembersWhatItSaw) {
  PollPolicy policy;
  const std::map<std::string, ModelLook> loaded = {{"old", kA}, {"gone", kA}, {"same", kA}};
  const auto looks = [] { return PollPolicy::Looks{{"new", kA}, {"old", kB}, {"same", kA}}; };
  PollPolicy::Actions actions = policy.step(looks(), loaded, {});
  EXPECT_THAT(actions.load, IsEmpty());
  EXPECT_THAT(actions.unload, IsEmpty());
  EXPECT_TRUE(actions.look_again);

  actions = policy.step(looks(), loaded, {});
  EXPECT_THAT(actions.load, ElementsAre("new", "old"));
  EXPECT_THAT(actions.unload, ElementsAre("gone"));
  EXPECT_FALSE(actions.look_again);
}

TEST(PollPolicyTest, LeavesModelsAloneThatCannotBeLookedAt) {
  PollPolicy policy;
  const std::map<std::string, ModelLook> loaded = {{"m", kA}};
  for (int i = 0; i < 3; ++i) {
    const auto actions = policy.step({{"m", std::nullopt}}, loaded, {});
    EXPECT_THAT(actions.unload, IsEmpty());
    EXPECT_THAT(actions.load, IsEmpty());
    EXPECT_FALSE(actions.look_again);
  }
}

TEST(PollPolicyTest, NeedsTwoLooksToBelieveThatAModelIsGone) {
  PollPolicy policy;
  const std::map<std::string, ModelLook> loaded = {{"m", kA}};
  policy.step({{"m", kA}}, loaded, {});
  EXPECT_THAT(policy.step({}, loaded, {}).unload, IsEmpty());
  EXPECT_THAT(policy.step({}, loaded, {}).unload, ElementsAre("m"));
}

TEST(PollPolicyTest, AsksForNothingWhileALoadOrUnloadHasNotEnded) {
  PollPolicy policy;
  const std::map<std::string, ModelLook> loaded = {{"gone", kA}};
  policy.step({{"new", kA}}, loaded, {});
  auto actions = policy.step({{"new", kA}}, loaded, {});
  EXPECT_THAT(actions.load, ElementsAre("new"));
  EXPECT_THAT(actions.unload, ElementsAre("gone"));
  actions = policy.step({{"new", kA}}, loaded, {"new", "gone"});  // both still wait for a thread
  EXPECT_THAT(actions.load, IsEmpty());
  EXPECT_THAT(actions.unload, IsEmpty());
  // Ended, and nothing has come of it: a load that could not look at its files, say.
  EXPECT_THAT(policy.step({{"new", kA}}, loaded, {"gone"}).load, ElementsAre("new"));
}

}  // namespace
}  // namespace proa::lifecycle
