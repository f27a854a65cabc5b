#include "core/reaper.h"

#include <gtest/gtest.h>

#include <future>

namespace proa::core {
namespace {

TEST(ReaperTest, RunsJobsInOrderOnItsOwnThread) {
  Reaper reaper;
  std::promise<std::thread::id> done;
  std::string order;
  reaper.post([&] { order += "a"; });
  reaper.post([&] {
    order += "b";
    done.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(done.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(order, "ab");
}

TEST(ReaperTest, DestructorFinishesWhatItWasGiven) {
  int ran = 0;
  {
    Reaper reaper;
    reaper.post([&] {
      ++ran;
      reaper.post([&] { ++ran; });
    });
  }
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace proa::core
