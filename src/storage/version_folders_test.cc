#include "storage/version_folders.h"

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ParseVersionTest, TakesWholeNumbersOnly) {
  EXPECT_EQ(parse_version("1"), 1);
  EXPECT_EQ(parse_version("0"), 0);
  EXPECT_EQ(parse_version("9223372036854775807"), INT64_MAX);
  for (const char* name : {"", "01", "00", "-1", "+1", " 1", "1 ", "1abc", "1.0", "0x1",
                           "9223372036854775808", "100000000000000000000"}) {
    EXPECT_EQ(parse_version(name), std::nullopt) << name;
  }
}

TEST(ListVersionsTest, SortsByNumberAndPassesOverOtherNames) {
  TempFolder temp;
  for (const char* name : {"2", "10", "1", "warmup", "initial_state", "configs"}) {
    temp.make_folder(name);
  }
  temp.write("config.pbtxt", "");
  const Result<VersionFolders> found = list_versions(temp.path());
  EXPECT_THAT(found->versions, ElementsAre(1, 2, 10));
  EXPECT_THAT(found->warnings, IsEmpty());
}

TEST(ListVersionsTest, SaysWhyAFolderIsNoVersion) {
  TempFolder temp;
  for (const char* name : {"1abc", "007", "100000000000000000000", "3"}) temp.make_folder(name);
  temp.write("4", "a file");
  const Result<VersionFolders> found = list_versions(temp.path());
  EXPECT_THAT(found->versions, ElementsAre(3));
  EXPECT_THAT(
      found->warnings,
      ElementsAre(HasSubstr("must not start with 0"), HasSubstr("at most 9223372036854775807"),
                  HasSubstr("'1abc' is ignored"), HasSubstr("a version is a folder")));
}

TEST(ListVersionsTest, FollowsLinksToFolders) {
  TempFolder temp;
  temp.make_folder("1");
  std::filesystem::create_directory_symlink("1", temp.path() / "2");
  EXPECT_THAT(list_versions(temp.path())->versions, ElementsAre(1, 2));
}

TEST(ListVersionsTest, SaysThatTheFolderIsMissing) {
  TempFolder temp;
  EXPECT_EQ(list_versions(temp.path() / "none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace proa::storage
