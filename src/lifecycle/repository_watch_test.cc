#include "lifecycle/repository_watch.h"

#include "base/log.h"
#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::lifecycle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RepositoryWatchTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(log::configure({.info = false})); }

  RepositoryWatchTest() {
    temp_.make_folder("repo/a/1");
    temp_.make_folder("repo/b/1");
    repositories_.push_back(*storage::LocalFolder::open(root_));
    watch_.emplace(repositories_);
  }
  // Looks; what went to the log.
  std::string look() {
    testing::internal::CaptureStderr();
    looks_ = watch_->look(repositories_);
    return testing::internal::GetCapturedStderr();
  }

  TempFolder temp_;
  const fs::path root_ = temp_.path() / "repo";
  std::vector<storage::LocalFolder> repositories_;
  std::optional<RepositoryWatch> watch_;
  std::optional<PollPolicy::Looks> looks_;
};

TEST_F(RepositoryWatchTest, TellsALostVolumeFromModelsThatWereRemoved) {
  // As when it is unmounted: another folder, an empty one, is there.
  fs::rename(root_, temp_.path() / "away");
  temp_.make_folder("repo");
  look();
  EXPECT_FALSE(looks_);
  fs::remove(root_);
  fs::rename(temp_.path() / "away", root_);
  look();
  ASSERT_TRUE(looks_);
  EXPECT_THAT(*looks_, SizeIs(2));
  fs::remove_all(root_ / "a");
  fs::remove_all(root_ / "b");
  look();
  ASSERT_TRUE(looks_);
  EXPECT_THAT(*looks_, IsEmpty());
}

TEST_F(RepositoryWatchTest, FollowsToAnotherFolderThatHoldsModels) {
  fs::rename(root_, temp_.path() / "away");
  temp_.make_folder("repo/c/1");
  look();
  ASSERT_TRUE(looks_);
  EXPECT_THAT(*looks_, SizeIs(1));
}

TEST_F(RepositoryWatchTest, TellsTroubleWhenItBeginsOnly) {
  fs::rename(root_, temp_.path() / "away");
  EXPECT_THAT(look(), HasSubstr("models stay as they are"));
  EXPECT_THAT(look(), IsEmpty());
  temp_.make_folder("repo");
  EXPECT_THAT(look(), HasSubstr("is its volume mounted?"));
  EXPECT_THAT(look(), IsEmpty());
  fs::remove(root_);
  EXPECT_THAT(look(), HasSubstr("does not exist"));
}

}  // namespace
}  // namespace proa::lifecycle
