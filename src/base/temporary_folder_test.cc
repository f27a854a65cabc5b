#include "base/temporary_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::atomic<bool> going_on = false;

class TemporaryFolderTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(log::configure({.info = false})); }

  std::unique_ptr<TemporaryFolder> create() const {
    auto folder = TemporaryFolder::create_in(parent());
    EXPECT_TRUE(folder) << folder.error().message;
    return *std::move(folder);
  }
  const fs::path& parent() const { return parent_.path(); }

  TempFolder parent_;
};

// Another process that has a temporary folder, until it is killed.
class Neighbour {
 public:
  explicit Neighbour(const fs::path& parent) {
    int ends[2];
    PROA_CHECK(::pipe(ends) == 0, "no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto folder = TemporaryFolder::create_in(parent);
      std::ofstream((*folder)->path() / "file") << "x";
      const std::string& path = (*folder)->path().native();
      if (::write(ends[1], path.data(), path.size()) < 0) ::_exit(1);
      while (true) ::pause();
    }
    char path[4096];
    const ssize_t size = ::read(ends[0], path, sizeof path);
    PROA_CHECK(size > 0, "the other process made no folder");
    folder_ = std::string(path, static_cast<std::size_t>(size));
    for (const int end : ends) ::close(end);
  }
  ~Neighbour() { kill(); }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  const fs::path& folder() const { return folder_; }
  void kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  fs::path folder_;
};

TEST_F(TemporaryFolderTest, IsPrivateAndGoesWithItsOwner) {
  auto folder = create();
  const fs::path path = folder->path();
  EXPECT_EQ(path.parent_path(), parent());
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  fs::create_directories(path / "a/b");
  folder.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryFolderTest, ASweepTakesWhatAKilledProcessLeft) {
  Neighbour neighbour(parent());
  const auto mine = create();
  TemporaryFolder::sweep_in(parent(), going_on);
  EXPECT_TRUE(fs::exists(neighbour.folder() / "file"));
  neighbour.kill();
  EXPECT_TRUE(fs::exists(neighbour.folder() / "file"));
  TemporaryFolder::sweep_in(parent(), going_on);
  EXPECT_FALSE(fs::exists(neighbour.folder()));
  EXPECT_TRUE(fs::exists(mine->path()));
}

TEST_F(TemporaryFolderTest, ASweepLeavesWhatIsNotOurs) {
  const char* const others[] = {"proa-temporary-folder.",
                                "proa-temporary-folder.files",
                                "proa-temporary-folder.abc123",
                                "proa-temporary-folder.abcdefg",
                                "proa-abc123",
                                "temporary"};
  for (const char* name : others) parent_.make_folder(name);  // for all to enter: not as ours
  fs::permissions(parent() / "proa-abc123", fs::perms::owner_all);
  parent_.write("proa-temporary-folder.abcdef", "a file");
  const fs::path elsewhere = parent_.make_folder("elsewhere");
  fs::permissions(elsewhere, fs::perms::owner_all);
  fs::create_directory_symlink(elsewhere, parent() / "proa-temporary-folder.linked");
  TemporaryFolder::sweep_in(parent(), going_on);
  for (const char* name : others) EXPECT_TRUE(fs::exists(parent() / name)) << name;
  EXPECT_TRUE(fs::exists(parent() / "proa-temporary-folder.abcdef"));
  EXPECT_TRUE(fs::exists(parent() / "proa-temporary-folder.linked"));
  TemporaryFolder::sweep_in(parent() / "nowhere", going_on);
}

TEST_F(TemporaryFolderTest, WhatASweepHasIsNotClaimed) {
  const fs::path made = parent_.make_folder("proa-temporary-folder.abcdef");
  {
    const OwnedFd sweep(::open(made.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(sweep.get(), LOCK_EX), 0);
    EXPECT_EQ(*TemporaryFolder::claim(made), nullptr);
  }
  auto folder = TemporaryFolder::claim(made);
  EXPECT_NE(*folder, nullptr);
  folder->reset();
  EXPECT_EQ(*TemporaryFolder::claim(made), nullptr);  // it is gone
  parent_.write("file", "");
  EXPECT_THAT(TemporaryFolder::claim(parent() / "file").error().message,
              HasSubstr("file' cannot be opened: Not a directory"));
}

// Others sweep all the time: another folder is made for each that they take.
TEST_F(TemporaryFolderTest, IsNotSweptWhileItIsMade) {
  std::vector<std::jthread> sweepers;
  for (int i = 0; i < 4; ++i) {
    sweepers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) TemporaryFolder::sweep_in(parent(), going_on);
    });
  }
  for (int i = 0; i < 300; ++i) {
    const auto folder = create();
    ASSERT_TRUE(fs::exists(folder->path()));
    std::ofstream file(folder->path() / "file");
    ASSERT_TRUE(file.is_open());
  }
}

TEST_F(TemporaryFolderTest, ErrorsNameTheFolderAndTheReason) {
  const auto folder = TemporaryFolder::create_in(parent() / "nowhere");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("nowhere': No such file or directory"));
}

}  // namespace
}  // namespace proa
