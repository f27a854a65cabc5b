#include "loadgen/clients/loop.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

// From here on the calling thread has no epoll_pwait2, as with a seccomp profile older than it.
bool forbid_epoll_pwait2() {
  std::array<sock_filter, 4> filter = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_epoll_pwait2},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0UL, 0UL) == 0;
}

TEST(LoopTest, SaysWhereItCannotWaitPrecisely) {
  Status opened;
  bool forbidden = false;
  std::thread([&] {
    forbidden = forbid_epoll_pwait2();
    Loop loop;
    opened = loop.open();
  }).join();
  if (!forbidden) GTEST_SKIP() << "no seccomp filters here";
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, ::testing::HasSubstr("epoll_pwait2 fails (Operation not"));
}

TEST(LoopTest, WaitsAsLongAsAskedOrUntilWoken) {
  Loop loop;
  ASSERT_TRUE(loop.open());
  const TimePoint until = steady_clock().now() + std::chrono::milliseconds(2);
  loop.run_once(until);
  EXPECT_GE(steady_clock().now(), until);
  loop.wake();
  loop.run_once(kNever);  // else for ever
}

}  // namespace
}  // namespace proa::loadgen
