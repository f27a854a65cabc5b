#include "base/timer.h"

#include <gtest/gtest.h>

#include <future>

#include "base/testing/manual_timer.h"

namespace proa {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(TimerThreadTest, FiresInOrderOfTime) {
  TimerThread timer;
  std::promise<std::string> done;
  std::string order;
  const TimePoint now = steady_clock().now();
  timer.schedule(now + milliseconds(2), [&] { done.set_value(order + "b"); });
  timer.schedule(now + milliseconds(1), [&] { order += "a"; });
  EXPECT_EQ(done.get_future().get(), "ab");
}

TEST(TimerThreadTest, CancelledCallbackNeverRuns) {
  TimerThread timer;
  bool ran = false;
  const auto id = timer.schedule(steady_clock().now() + hours(1), [&] { ran = true; });
  EXPECT_TRUE(timer.cancel(id));
  EXPECT_FALSE(timer.cancel(id));
  EXPECT_FALSE(ran);
}

TEST(TimerThreadTest, CallbackMayScheduleAgain) {
  TimerThread timer;
  std::promise<void> done;
  timer.schedule(steady_clock().now(),
                 [&] { timer.schedule(steady_clock().now(), [&] { done.set_value(); }); });
  done.get_future().wait();
}

TEST(TimerThreadTest, DestructorDropsWhatIsPending) {
  auto alive = std::make_shared<int>(1);
  std::weak_ptr<int> watch = alive;
  {
    TimerThread timer;
    timer.schedule(kNever, [alive = std::move(alive)] {});
  }
  EXPECT_TRUE(watch.expired());
}

TEST(ManualTimerTest, FiresWhenTheClockPasses) {
  ManualClock clock;
  ManualTimer timer(clock);
  int fired = 0;
  timer.schedule(clock.now() + milliseconds(5), [&] { ++fired; });
  timer.advance(milliseconds(4));
  EXPECT_EQ(fired, 0);
  timer.advance(milliseconds(1));
  EXPECT_EQ(fired, 1);
}

}  // namespace
}  // namespace proa
