#include "lifecycle/keyed_jobs.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>

#include "fmt/format.h"
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

TEST(KeyedJobsTest, WhoseTurnDoesNotMatterOvertakesWhatHasNotBegun) {
  std::promise<void> begun, release, passed;
  std::vector<std::string> order;
  {
    KeyedJobs jobs("test", 1);
    jobs.post("b", [&] {
      begun.set_value();
      release.get_future().wait();
    });
    begun.get_future().wait();
    jobs.post("a", [&] { order.emplace_back("queued"); });
    std::thread::id ran_on;
    jobs.run_between("a", [&] {
      ran_on = std::this_thread::get_id();
      order.emplace_back("between");
      // "a" has its turn, and leaves it to the one that is between.
      release.set_value();
      jobs.post("c", [&] { passed.set_value(); });
      passed.get_future().wait();
      jobs.run_between("a", [&] { order.emplace_back("another"); });
    });
    EXPECT_EQ(ran_on, std::this_thread::get_id());
  }
  EXPECT_THAT(order, testing::ElementsAre("between", "another", "queued"));
}

TEST(WorkerPoolTest, AJobMayWaitForAnotherWhereOneMoreIsAllowed) {
  WorkerPool pool("test", 1);
  std::promise<void> inner, outer;
  pool.post([&] {
    pool.allow(1);
    pool.post([&] { inner.set_value(); });
    inner.get_future().wait();
    pool.allow(-1);
    outer.set_value();
  });
  outer.get_future().wait();
  // And one at a time again.
  std::atomic<int> side_by_side = 0, most = 0;
  std::promise<void> last;
  for (int i = 0; i < 100; ++i) {
    pool.post([&, i] {
      most = std::max(most.load(), ++side_by_side);
      --side_by_side;
      if (i == 99) last.set_value();
    });
  }
  last.get_future().wait();
  EXPECT_EQ(most, 1);
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

TEST(KeyedJobsTest, AJobThatHoldsKeepsItsPlace) {
  std::vector<std::string> order;
  std::promise<void> held, ended;
  int runs = 0;
  KeyedJobs jobs("test", 1);
  jobs.post(
      "a",
      [&] {
        order.push_back(fmt::format("first, run {}", ++runs));
        if (runs == 1) jobs.hold("a");
      },
      [&] { order.emplace_back("after the first"); });
  jobs.run_or_post("a", [&] { order.emplace_back("second"); });
  jobs.post("b", [&] { held.set_value(); });  // on the only thread, which the first does not keep
  held.get_future().wait();
  EXPECT_THAT(order, testing::ElementsAre("first, run 1"));
  jobs.post("a", [&] { ended.set_value(); });
  jobs.resume("a");
  ended.get_future().wait();
  EXPECT_THAT(order,
              testing::ElementsAre("first, run 1", "first, run 2", "after the first", "second"));
}

TEST(KeyedJobsTest, AJobMayBeResumedBeforeItIsHeld) {
  for (const bool before : {true, false}) {
    std::promise<void> asked, ended;
    int runs = 0;
    KeyedJobs jobs("test", 2);
    jobs.post(
        "a",
        [&] {
          if (++runs > 1) return;
          jobs.hold("a");
          if (before) jobs.resume("a");
          asked.set_value();
        },
        [&] { ended.set_value(); });
    asked.get_future().wait();
    if (!before) jobs.resume("a");
    ended.get_future().wait();
    EXPECT_EQ(runs, 2);
  }
}

TEST(KeyedJobsTest, WhoseTurnDoesNotMatterNeedNotWait) {
  std::promise<void> begun, release, held, ended;
  std::vector<std::string> order;
  int runs = 0;
  KeyedJobs jobs("test", 1);
  jobs.run_between("a", [&] { order.emplace_back("alone"); });
  jobs.post("a", [&] {
    order.push_back(fmt::format("run {}", ++runs));
    if (runs > 1) return;
    begun.set_value();
    release.get_future().wait();
    jobs.hold("a");
  });
  begun.get_future().wait();
  jobs.run_or_post("a", [&] { order.emplace_back("last"); });
  jobs.run_between("a", [&] { order.emplace_back("after the one that runs"); });
  jobs.post("b", [&] { held.set_value(); });
  release.set_value();
  held.get_future().wait();
  std::thread::id ran_on;
  jobs.run_between("a", [&] {
    order.emplace_back("while it is held");
    ran_on = std::this_thread::get_id();
    jobs.run_between("a", [&] { order.emplace_back("and another"); });
    jobs.resume("a");
    jobs.run_between("a", [&] { order.emplace_back("and a third"); });
  });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  jobs.post("a", [&] { ended.set_value(); });
  ended.get_future().wait();
  EXPECT_THAT(order,
              testing::ElementsAre("alone", "run 1", "after the one that runs", "while it is held",
                                   "and another", "and a third", "run 2", "last"));
}

TEST(KeyedJobsTest, WhatIsNeverResumedGoesWithTheDestructor) {
  const auto kept = std::make_shared<int>();
  {
    KeyedJobs jobs("test", 1);
    jobs.post("a", [&jobs, kept] { jobs.hold("a"); });
    jobs.post("a", [kept] { FAIL() << "overtook"; });
  }
  EXPECT_EQ(kept.use_count(), 1);
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
