#include "net/event_loop.h"

#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "net/exchange.h"
#include "net/testing/recording_exchange.h"

namespace proa::net {
namespace {

class RunningLoop {
 public:
  RunningLoop() : thread_([this] { loop.run(); }) {}
  ~RunningLoop() {
    loop.stop();
    thread_.join();
  }
  EventLoop loop;

 private:
  std::thread thread_;
};

TEST(EventLoopTest, RunsTasksOfManyThreadsInEachThreadsOrder) {
  RunningLoop running;
  constexpr int kThreads = 4, kTasks = 2000;
  std::vector<int> next(kThreads, 0);
  bool in_order = true;
  std::promise<void> done;
  int left = kThreads * kTasks;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTasks; ++i) {
        running.loop.post([&, t, i] {
          in_order = in_order && next[t]++ == i && running.loop.on_thread();
          if (--left == 0) done.set_value();
        });
      }
    });
  }
  done.get_future().wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(in_order);
  EXPECT_FALSE(running.loop.on_thread());
}

TEST(EventLoopTest, DestroysTasksThatNeverRan) {
  auto alive = std::make_shared<int>(1);
  {
    EventLoop loop;
    loop.post([alive] { FAIL() << "the loop never ran"; });
    loop.post([alive] { FAIL() << "the loop never ran"; });
    EXPECT_EQ(alive.use_count(), 3);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(EventLoopTest, RunsATaskPostedByATask) {
  EventLoop loop;
  int runs = 0;
  loop.post([&] { loop.post([&] { ++runs; }); });
  loop.poll();
  EXPECT_EQ(runs, 1);
}

struct CountingFlush final : EventLoop::Flushable {
  void flush() override { ++flushes; }
  int flushes = 0;
};

TEST(EventLoopTest, FlushesOnceForAllTasksOfOneWakeUp) {
  EventLoop loop;
  CountingFlush connection, gone;
  for (int i = 0; i < 16; ++i) loop.post([&] { loop.mark_dirty(connection); });
  loop.post([&] {
    loop.mark_dirty(gone);
    loop.forget(gone);
  });
  loop.poll();
  EXPECT_EQ(connection.flushes, 1);
  EXPECT_EQ(gone.flushes, 0);
}

TEST(ExchangeRefTest, RunsInlineOnTheLoopsThreadAndPostsFromOthers) {
  EventLoop loop;
  loop.poll();
  RecordingExchange exchange(loop);
  ExchangeRef ref = exchange.ref();
  int inline_runs = 0, posted_runs = 0;
  ref.run([&](Exchange& e) { inline_runs += &e == &exchange; });
  EXPECT_EQ(inline_runs, 1);
  std::thread([&] { ref.run([&](Exchange& e) { posted_runs += &e == &exchange; }); }).join();
  EXPECT_EQ(posted_runs, 0);
  loop.poll();
  EXPECT_EQ(posted_runs, 1);
}

TEST(ExchangeRefTest, OutlivesItsExchange) {
  EventLoop loop;
  loop.poll();
  ExchangeRef ref;
  {
    RecordingExchange exchange(loop);
    ref = exchange.ref();
    std::thread([&] { ref.run([](Exchange&) { FAIL() << "the exchange is gone"; }); }).join();
  }
  loop.poll();
  EXPECT_EQ(ref.get(), nullptr);
  EXPECT_TRUE(ref.unique());
}

}  // namespace
}  // namespace proa::net
