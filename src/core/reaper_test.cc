#include "core/reaper.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

namespace proa::core {
namespace {

TEST(ReaperTest, RunsJobsInOrderOnItsOwnThread) {
  Reaper reaper;
  std::promise<std::thread::id> done;
  std::string order;
  reaper.expect();
  reaper.expect();
  reaper.destroy([&] { order += "a"; });
  reaper.destroy([&] {
    order += "b";
    done.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(done.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(order, "ab");
}

TEST(ReaperTest, DestructorWaitsForWhatIsExpected) {
  int ran = 0;
  std::jthread late;
  {
    Reaper reaper;
    reaper.expect();
    reaper.expect();
    late = std::jthread([&] { reaper.destroy([&] { reaper.destroy([&] { ++ran; }); }); });
  }
  EXPECT_EQ(ran, 1);
}

TEST(ReaperTest, CallsAfterwardsOnceNothingWaits) {
  std::string order;
  std::promise<void> posted;
  {
    Reaper reaper([&] { order += "!"; });
    reaper.expect();
    reaper.expect();
    reaper.destroy([&] {
      posted.get_future().wait();
      order += "a";
    });
    reaper.destroy([&] { order += "b"; });
    posted.set_value();
  }
  EXPECT_EQ(order, "ab!");
}

}  // namespace
}  // namespace proa::core
