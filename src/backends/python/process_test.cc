#include "backends/python/process.h"

#include <fcntl.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::python {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
constexpr milliseconds kLong{20'000};

Result<Process> shell(const std::string& script) {
  return Process::start({"/bin/sh", {"-c", script}, {"PATH=/usr/bin:/bin"}},
                        OwnedFd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
}

std::string end_of(const std::string& script) {
  auto process = shell(script);
  EXPECT_TRUE(process) << process.error().message;
  std::string how;
  EXPECT_TRUE(process->wait(kLong, how));
  return how;
}

TEST(ProcessTest, TellsHowItEnded) {
  EXPECT_EQ(end_of("exit 3"), "exited with status 3");
  EXPECT_EQ(end_of("kill -SEGV $$"), "was killed by signal 11 (SIGSEGV)");
  EXPECT_THAT(end_of("kill -KILL $$"), HasSubstr("(SIGKILL), as the kernel does when memory"));
}

TEST(ProcessTest, InheritsFourDescriptorsAndNoSignalMask) {
  const TempFolder folder;
  const std::string file = folder.path() / "fds";
  const OwnedFd null(::open("/dev/null", O_RDONLY));
  const OwnedFd extra(::fcntl(null.get(), F_DUPFD, 50));  // not close-on-exec
  // A shell blocks signals while it waits: grep takes its place.
  end_of("ls /proc/$$/fd > " + file + "; exec grep SigBlk /proc/self/status >> " + file);
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  for (const char* own : {"0\n", "1\n", "2\n", "3\n"}) EXPECT_THAT(text, HasSubstr(own));
  EXPECT_THAT(text, testing::Not(HasSubstr("\n" + std::to_string(extra.get()) + "\n")));
  EXPECT_THAT(text, HasSubstr("SigBlk:\t0000000000000000"));
}

TEST(ProcessTest, IsKilledWithWhatItStarted) {
  const TempFolder folder;
  const std::string file = folder.path() / "pid";
  {
    auto process =
        shell("sleep 1000 & echo $! > " + file + ".part; mv " + file + ".part " + file + "; wait");
    ASSERT_TRUE(process);
    while (!std::filesystem::exists(file)) std::this_thread::yield();
    std::string how;
    EXPECT_FALSE(process->wait(milliseconds(0), how));
  }
  std::ifstream stream(file);
  pid_t child = 0;
  stream >> child;
  ASSERT_GT(child, 0);
  // It is init's now, or a zombie of ours to nobody: gone, or dead and not collected.
  const auto dead = [child] {
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(status, text);
    return text.empty() || text.find(") Z ") != std::string::npos;
  };
  while (!dead()) std::this_thread::yield();
}

TEST(ProcessTest, ErrorsNameTheProgram) {
  const auto process = Process::start({"/nowhere/python3", {}, {}},
                                      OwnedFd(::open("/dev/null", O_RDWR | O_CLOEXEC)));
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(process.error().message, HasSubstr("'/nowhere/python3' cannot be started"));
}

}  // namespace
}  // namespace proa::backends::python
