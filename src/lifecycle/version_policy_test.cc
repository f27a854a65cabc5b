#include "lifecycle/version_policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::lifecycle {
namespace {

using config::VersionPolicy;
using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::int64_t> kAvailable = {1, 3, 7};

VersionPolicy latest(std::uint32_t count) { return {VersionPolicy::Kind::kLatest, count, {}}; }

TEST(VersionPolicyTest, LatestTakesTheHighestNumbers) {
  EXPECT_THAT(select_versions(latest(1), kAvailable).versions, ElementsAre(7));
  EXPECT_THAT(select_versions(latest(2), kAvailable).versions, ElementsAre(3, 7));
  EXPECT_THAT(select_versions(latest(9), kAvailable).versions, ElementsAre(1, 3, 7));
  EXPECT_THAT(select_versions(latest(1), {}).versions, IsEmpty());
}

TEST(VersionPolicyTest, AllTakesEverything) {
  const VersionPolicy all{VersionPolicy::Kind::kAll, 1, {}};
  EXPECT_THAT(select_versions(all, kAvailable).versions, ElementsAre(1, 3, 7));
}

TEST(VersionPolicyTest, SpecificTakesWhatIsThereAndTellsWhatIsNot) {
  const VersionPolicy specific{VersionPolicy::Kind::kSpecific, 1, {7, 2, 1, 7}};
  const SelectedVersions selected = select_versions(specific, kAvailable);
  EXPECT_THAT(selected.versions, ElementsAre(1, 7));
  EXPECT_THAT(selected.missing, ElementsAre(2));
}

}  // namespace
}  // namespace proa::lifecycle
