#include "storage/private_folder.h"

#include <sys/stat.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/local_folder.h"

namespace proa::storage {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(PrivateFolderTest, HoldsFilesAndRemovesThem) {
  auto folder = PrivateFolder::create();
  ASSERT_TRUE(folder);
  const fs::path path = (*folder)->path();
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_TRUE((*folder)->write("1/sub/model.onnx", std::string("a\0b", 3)));
  EXPECT_EQ(*read_file(path / "1/sub/model.onnx", 100), std::string("a\0b", 3));
  folder->reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolderTest, LetsNothingOut) {
  const auto folder = PrivateFolder::create();
  ASSERT_TRUE(folder);
  for (const char* bad : {"", "/etc/passwd", "..", "../x", "1/../../x", "1/..", "1/", ".", "1/."}) {
    const Status status = (*folder)->write(bad, "x");
    ASSERT_FALSE(status) << bad;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_FALSE((*folder)->write(std::string_view("a\0b", 3), "x"));
  EXPECT_FALSE((*folder)->write(std::string(300, 'n'), "x"));
}

TEST(PrivateFolderTest, WritesEachFileOnce) {
  const auto folder = PrivateFolder::create();
  ASSERT_TRUE(folder);
  ASSERT_TRUE((*folder)->write("a", "x"));
  EXPECT_THAT((*folder)->write("a", "y").error().message, HasSubstr("File exists"));
  EXPECT_THAT((*folder)->write("./a", "y").error().message, HasSubstr("File exists"));
  EXPECT_EQ((*folder)->write("a/b", "y").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace proa::storage
