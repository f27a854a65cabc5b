#include "lifecycle/keyed_jobs.h"

#include <atomic>
#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::lifecycle {
namespace {

TEST(KeyedJobsTest, OneKeyRunsInOrderWhileAnotherIsStuck) {
  std::promise<void> release;
  std::vector<int> order;
  {
    KeyedJobs jobs("test", 4);
    std::promise<void> stuck;
    jobs.post("a", [&] {
      stuck.set_value();
      release.get_future().wait();
    });
    stuck.get_future().wait();
    for (int i = 0; i < 100; ++i) jobs.post("b", [&order, i] { order.push_back(i); });
    std::promise<void> done;
    jobs.post("b", [&] { done.set_value(); });
    done.get_future().wait();
    release.set_value();
  }
  ASSERT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(KeyedJobsTest, ShortJobsRunOnTheCallersThreadUnlessTheirKeyIsBusy) {
  std::promise<void> release;
  std::promise<void> begun;
  std::vector<std::string> order;
  {
    KeyedJobs jobs("test", 1);
    std::thread::id ran_on;
    jobs.run_or_post("a", [&] { ran_on = std::this_thread::get_id(); });
    EXPECT_EQ(ran_on, std::this_thread::get_id());
    jobs.post("a", [&] {
      begun.set_value();
      release.get_future().wait();
      order.emplace_back("long");
    });
    begun.get_future().wait();
    jobs.run_or_post("a", [&] { order.emplace_back("short"); });
    EXPECT_TRUE(order.empty());
    release.set_value();
  }
  EXPECT_THAT(order, testing::ElementsAre("long", "short"));
}

TEST(KeyedJobsTest, AJobMayPostAnotherOfItsKey) {
  std::atomic<int> ran = 0;
  {
    KeyedJobs jobs("test", 2);
    jobs.run_or_post("a", [&] { jobs.post("a", [&] { ++ran; }); });
    jobs.post("b", [&] { jobs.post("b", [&] { ++ran; }); });
  }
  EXPECT_EQ(ran, 2);
}

TEST(KeyedJobsTest, AfterwardsTheKeyIsFree) {
  KeyedJobs jobs("test", 1);
  for (int i = 0; i < 100; ++i) {
    std::promise<void> told;
    jobs.post("a", [] {}, [&] { told.set_value(); });
    told.get_future().wait();
    bool ran = false;
    jobs.run_or_post("a", [&] { ran = true; });
    ASSERT_TRUE(ran);
  }
}

}  // namespace
}  // namespace proa::lifecycle
