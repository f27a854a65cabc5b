#include "storage/file_stamps.h"

#include <utime.h>

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::storage {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::vector<std::string> paths(const FileStamps& stamps) {
  std::vector<std::string> result;
  for (const FileStamp& stamp : stamps) result.push_back(stamp.path);
  return result;
}

class FileStampsTest : public testing::Test {
 protected:
  FileStamps stamps() {
    auto result = stamp_files(temp_.path() / "m");
    EXPECT_TRUE(result);
    return *std::move(result);
  }
  TempFolder temp_;
};

TEST_F(FileStampsTest, NamesEverythingButHiddenFiles) {
  temp_.write("m/config.pbtxt", "x");
  temp_.write("m/1/model.onnx", "12345");
  temp_.write("m/.git/HEAD", "x");
  temp_.make_folder("m/2");
  const FileStamps found = stamps();
  EXPECT_THAT(paths(found), ElementsAre("1/", "1/model.onnx", "2/", "config.pbtxt"));
  EXPECT_EQ(found[1].size, 5u);
  EXPECT_NE(found[1].inode, 0u);
  EXPECT_EQ(found[0].modified_ns, 0);  // a folder's own time says nothing about its files
  EXPECT_EQ(stamps(), found);
}

TEST_F(FileStampsTest, SeesEveryKindOfChange) {
  const fs::path file = temp_.write("m/1/model.onnx", "12345");
  const FileStamps before = stamps();
  temp_.write("m/1/model.onnx", "123456");
  const FileStamps longer = stamps();
  EXPECT_NE(longer, before);

  const utimbuf old{1'000'000, 1'000'000};
  ASSERT_EQ(::utime(file.c_str(), &old), 0);
  const FileStamps touched = stamps();
  EXPECT_NE(touched, longer);

  // Who may read it. The disk's clock goes in steps: the first changes may fall into the last one.
  while (stamps() == touched) {
    fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
    fs::permissions(file, fs::perms::group_read, fs::perm_options::remove);
  }
  const FileStamps permitted = stamps();

  // The same size and time, another file.
  fs::rename(file, temp_.path() / "keeps its inode busy");
  temp_.write("m/1/model.onnx", "abcdef");
  ASSERT_EQ(::utime(file.c_str(), &old), 0);
  EXPECT_NE(stamps(), permitted);
}

TEST_F(FileStampsTest, SeesASwappedLinkAboveTheFiles) {
  temp_.write("a/1/model.onnx", "12345");
  temp_.write("b/1/model.onnx", "12345");
  fs::create_directory_symlink("a", temp_.path() / "m");
  const FileStamps before = stamps();
  fs::create_directory_symlink("b", temp_.path() / "next");
  fs::rename(temp_.path() / "next", temp_.path() / "m");
  EXPECT_NE(stamps(), before);
}

TEST_F(FileStampsTest, FollowsLinksButNotInCircles) {
  temp_.write("m/1/model.onnx", "12345");
  fs::create_directory_symlink("..", temp_.path() / "m/1/up");
  fs::create_symlink("nowhere", temp_.path() / "m/1/broken");
  fs::create_directory_symlink("1", temp_.path() / "m/2");
  EXPECT_THAT(paths(stamps()), ElementsAre("1/", "1/broken", "1/model.onnx", "1/up/", "2/",
                                           "2/broken", "2/model.onnx", "2/up/"));
}

TEST_F(FileStampsTest, TellsThatThereIsNoSuchFolder) {
  EXPECT_EQ(stamp_files(temp_.path() / "none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace proa::storage
