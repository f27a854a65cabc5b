#include "base/thread.h"

#include <pthread.h>

#include <csignal>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

TEST(ThreadTest, RunsTheBody) {
  bool ran = false;
  auto thread = try_start_thread("proa-test", [&] { ran = true; });
  ASSERT_TRUE(thread);
  thread->join();
  EXPECT_TRUE(ran);
}

// A stack that no machine has stands for a limit that is reached.
TEST(ThreadTest, SaysWhenThereIsNone) {
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 47), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  const auto thread = try_start_thread("proa-test", [] {});
  pthread_setattr_default_np(&before);
  ASSERT_FALSE(thread);
  EXPECT_EQ(thread.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(thread.error().message, ::testing::HasSubstr("threads run; raise the limit"));
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);  // as before
}

}  // namespace
}  // namespace proa
