#include "storage/local_folder.h"

#include <sys/stat.h>

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::storage {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

LocalFolder open(const fs::path& path) {
  Result<LocalFolder> folder = LocalFolder::open(path);
  EXPECT_TRUE(folder) << folder.error().message;
  return *folder;
}

TEST(LocalFolderTest, ListsFoldersAndLinksInOrder) {
  TempFolder temp;
  temp.make_folder("zebra/1");
  temp.make_folder("ant");
  temp.make_folder(".git");
  temp.make_folder("..data");
  temp.make_folder("with space");
  temp.make_folder("lost+found");
  temp.make_folder("__pycache__");
  temp.make_folder("not utf-8 \xff");
  temp.make_folder("new\nline");
  temp.write("README.md", "no model");
  fs::create_symlink("nowhere", temp.path() / "broken");
  EXPECT_THAT(*open(temp.path()).list_models(),
              ElementsAre("ant", "broken", "with space", "zebra"));
}

TEST(LocalFolderTest, RefusesARootThatIsMissingOrAFile) {
  TempFolder temp;
  EXPECT_EQ(LocalFolder::open(temp.path() / "none").error().code, ErrorCode::kNotFound);
  const Error file = LocalFolder::open(temp.write("file", "")).error();
  EXPECT_EQ(file.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(file.message, HasSubstr("one sub-folder per model"));
}

TEST(LocalFolderTest, SaysWhatToDoAboutObjectStores) {
  for (const char* url : {"s3://bucket/models", "gs://bucket", "as://account/container"}) {
    const Error error = LocalFolder::open(url).error();
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr(url));
    EXPECT_THAT(error.message, HasSubstr("mount the bucket"));
  }
}

TEST(LocalFolderTest, FindsAModelByItsPlainNameOnly) {
  TempFolder temp;
  temp.make_folder("repo/model");
  temp.make_folder("other");
  temp.write("repo/file", "");
  const LocalFolder folder = open(temp.path() / "repo");
  EXPECT_EQ(*folder.find_model("model"), temp.path() / "repo/model");
  EXPECT_EQ(folder.find_model("none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(folder.find_model("file").error().code, ErrorCode::kNotFound);
  const std::string with_zero("model\0x", 7);
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../other"),
        std::string("model/1"), std::string("/etc"), with_zero}) {
    EXPECT_EQ(folder.find_model(name).error().code, ErrorCode::kInvalidArgument) << name;
  }
}

TEST(LocalFolderTest, FollowsLinksThatStayInside) {
  TempFolder temp;
  temp.write("repo/weights/model.onnx", "onnx");
  temp.make_folder("repo/model/1");
  fs::create_symlink("../../weights/model.onnx", temp.path() / "repo/model/1/model.onnx");
  fs::create_symlink("model", temp.path() / "repo/alias");
  const LocalFolder folder = open(temp.path() / "repo");
  const fs::path file = *folder.find_inside(temp.path() / "repo/model/1", "model.onnx");
  EXPECT_EQ(*read_file(file, 100), "onnx");
  EXPECT_TRUE(folder.find_model("alias"));
}

TEST(LocalFolderTest, RefusesLinksThatLeaveTheRepository) {
  TempFolder temp;
  temp.write("secret/labels.txt", "secret");
  temp.make_folder("repo/model");
  temp.make_folder("repository_of_somebody_else/model");
  fs::create_symlink(temp.path() / "secret/labels.txt", temp.path() / "repo/model/labels.txt");
  fs::create_symlink("../secret", temp.path() / "repo/linked");
  fs::create_symlink("../repository_of_somebody_else/model", temp.path() / "repo/sibling");
  const LocalFolder folder = open(temp.path() / "repo");
  const Error label = folder.find_inside(temp.path() / "repo/model", "labels.txt").error();
  EXPECT_EQ(label.code, ErrorCode::kPermissionDenied);
  EXPECT_THAT(label.message, HasSubstr("leads out of the model repository"));
  EXPECT_EQ(folder.find_model("linked").error().code, ErrorCode::kPermissionDenied);
  // "repo" is a prefix of that folder's name, but not its parent.
  EXPECT_EQ(folder.find_model("sibling").error().code, ErrorCode::kPermissionDenied);
}

TEST(LocalFolderTest, RefusesPathsThatClimbOrAreAbsolute) {
  TempFolder temp;
  temp.write("repo/model/labels.txt", "a");
  const LocalFolder folder = open(temp.path() / "repo");
  for (const std::string& path :
       {std::string(), std::string("/etc/passwd"), std::string("../model/labels.txt"),
        std::string("a/../labels.txt"), std::string("labels.txt\0.png", 15)}) {
    EXPECT_EQ(folder.find_inside(temp.path() / "repo/model", path).error().code,
              ErrorCode::kInvalidArgument)
        << path;
  }
  EXPECT_TRUE(folder.find_inside(temp.path() / "repo/model", "labels.txt"));
}

TEST(LocalFolderTest, ChecksEveryLinkBelowAFolder) {
  TempFolder temp;
  temp.write("repo/shared/weights.bin", "inside");
  temp.write("secret.bin", "outside");
  const fs::path version = temp.make_folder("repo/model/1");
  temp.make_folder("repo/model/1/model.savedmodel/variables");
  const LocalFolder folder = open(temp.path() / "repo");
  fs::create_symlink("../../shared/weights.bin", version / "weights.bin");
  fs::create_symlink("nowhere", version / "broken");
  EXPECT_TRUE(folder.check_links(version));
  const fs::path deep = version / "model.savedmodel/variables/data";
  fs::create_symlink(temp.path() / "secret.bin", deep);
  const Error error = folder.check_links(version).error();
  EXPECT_EQ(error.code, ErrorCode::kPermissionDenied);
  EXPECT_THAT(error.message, HasSubstr(deep.native()));
}

TEST(LocalFolderTest, RefusesWhatWouldBlockItsReader) {
  TempFolder temp;
  const fs::path version = temp.make_folder("repo/model/1");
  const fs::path variables = temp.make_folder("repo/model/1/model.savedmodel/variables");
  const LocalFolder folder = open(temp.path() / "repo");
  EXPECT_TRUE(folder.check_links(version));
  const fs::path pipe = variables / "data";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Error error = folder.check_links(version).error();
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr(pipe.native() + "' is not a regular file"));
  fs::rename(pipe, temp.path() / "repo/pipe");
  EXPECT_TRUE(folder.check_links(version));
  fs::create_symlink("../../pipe", version / "model.onnx");
  EXPECT_THAT(folder.check_links(version).error().message, HasSubstr("not a regular file"));
}

TEST(LocalFolderTest, AcceptsARootThatIsSwappedByALink) {
  TempFolder temp;
  temp.write("tree_a/model/1/file", "a");
  temp.write("tree_b/model/1/file", "b");
  fs::create_directory_symlink("tree_a", temp.path() / "repo");
  const LocalFolder folder = open(temp.path() / "repo");
  const auto content = [&] {
    return *read_file(*folder.find_inside(*folder.find_model("model"), "1/file"), 100);
  };
  EXPECT_EQ(content(), "a");
  fs::remove(temp.path() / "repo");
  fs::create_directory_symlink("tree_b", temp.path() / "repo");
  EXPECT_EQ(content(), "b");
}

TEST(ReadFileTest, ReadsUpToTheLimitAndNoFurther) {
  TempFolder temp;
  const fs::path file = temp.write("file", "12345");
  EXPECT_EQ(*read_file(file, 5), "12345");
  const Error error = read_file(file, 4).error();
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("4 bytes"));
  EXPECT_EQ(*read_file(temp.write("empty", ""), 5), "");
}

TEST(ReadFileTest, RefusesWhatIsNoRegularFile) {
  TempFolder temp;
  EXPECT_EQ(read_file(temp.path() / "none", 5).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_file(temp.path(), 5).error().code, ErrorCode::kInvalidArgument);
  const fs::path pipe = temp.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_file(pipe, 5).error().code, ErrorCode::kInvalidArgument);
  // Its size is said to be 0 and it has content.
  EXPECT_FALSE(read_file("/proc/self/status", 1 << 20)->empty());
}

TEST(ReadFileTest, ShowsControlCharactersOfNamesEscaped) {
  EXPECT_THAT(read_file("no\nsuch", 5).error().message, HasSubstr("no\\x0asuch"));
}

}  // namespace
}  // namespace proa::storage
