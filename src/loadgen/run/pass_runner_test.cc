#include "loadgen/run/pass_runner.h"

#include <atomic>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loadgen/testing/puppet_target.h"

namespace proa::loadgen {
namespace {

using std::chrono::milliseconds;

PayloadSet make_set(std::int64_t batch_size) {
  PayloadSet set;
  set.payloads.resize(3);
  set.streams = {{0, 3}};
  set.batch_size = batch_size;
  return set;
}

PassOptions options_for(const Target& target, const std::vector<const PayloadSet*>& sets) {
  PassOptions options;
  options.worker.target = &target;
  options.worker.picker.sets = sets;
  options.worker.picker.weights.assign(sets.size(), 1);
  options.interval = milliseconds(100);
  options.rule.percentage = 1000;
  return options;
}

// Runs one load against a puppet.
class PassRunnerTest : public ::testing::Test {
 protected:
  Pass run(const Load& load, const std::function<void(PassOptions&)>& change = nullptr) {
    const PuppetTarget target([this](Exchange& exchange) {
      if (answer_) answer_(exchange);
    });
    PassOptions options = options_for(target, {&set_});
    if (change) change(options);
    PassRunner runner(options, statistics_, stop_, progress_);
    auto pass = runner.run(load, verdict_);
    EXPECT_TRUE(pass) << pass.error().message;
    return pass ? std::move(*pass) : Pass();
  }

  const PayloadSet set_ = make_set(2);
  PuppetTarget::Answer answer_;
  StatisticsSource* statistics_ = nullptr;
  std::atomic<bool> stop_ = false;
  std::function<void(const Progress&)> progress_;
  PassVerdict verdict_;
};

TEST_F(PassRunnerTest, SendsExactlySoManyRequests) {
  const Pass pass = run({.value = 4, .requests = 1001}, [](PassOptions& options) {
    options.max_threads = 3;
    options.worker.keep_requests = true;
  });
  EXPECT_EQ(pass.counts.sent, 1001U);
  EXPECT_EQ(pass.counts.completed, 1001U);
  EXPECT_EQ(pass.counts.inferences, 2002U);
  EXPECT_EQ(pass.counts.bytes_received, 200'200U);
  EXPECT_EQ(pass.latencies.from_due.count(), 1001U);
  EXPECT_EQ(pass.requests.size(), 1001U);
  EXPECT_EQ(pass.health.threads, 3);
  EXPECT_EQ(pass.health.connections, 3U);
  EXPECT_TRUE(pass.stability.stable);
  EXPECT_TRUE(pass.errors.empty());
}

TEST_F(PassRunnerTest, CountsFailuresByKindAndNotInLatency) {
  std::atomic<int> count = 0;
  answer_ = [&](Exchange& exchange) {
    const int i = count++;
    if (i % 4 == 0) exchange.failure = std::make_unique<Failure>("HTTP 503", "busy");
    if (i % 8 == 1) exchange.failure = std::make_unique<Failure>("wrong answer", "5 is not 6");
  };
  const Pass pass = run({.value = 2, .requests = 80});
  EXPECT_EQ(pass.counts.completed, 50U);
  EXPECT_EQ(pass.counts.errors, 30U);
  EXPECT_EQ(pass.latencies.from_due.count(), 50U);
  ASSERT_EQ(pass.errors.size(), 2U);
  EXPECT_EQ(pass.errors[0].kind, "HTTP 503");
  EXPECT_EQ(pass.errors[0].count, 20U);
  EXPECT_EQ(pass.errors[0].sample, "busy");
  EXPECT_EQ(pass.errors[1].count, 10U);
}

TEST_F(PassRunnerTest, EndsWhenThreeWindowsAgree) {
  int progress = 0;
  progress_ = [&](const Progress& now) {
    ++progress;
    EXPECT_LE(now.window, 4);
  };
  const Pass pass = run({.value = 1});
  EXPECT_EQ(pass.windows.size(), 3U);
  EXPECT_TRUE(pass.stability.stable);
  EXPECT_GT(progress, 10);
  std::uint64_t completed = 0;
  for (const Window& window : pass.windows) {
    EXPECT_TRUE(window.used);
    completed += window.counts.completed;
  }
  EXPECT_EQ(pass.counts.completed, completed);
  EXPECT_EQ(pass.measured, milliseconds(300));
  EXPECT_GT(pass.health.busy, 0.05);  // of all three windows, not of their busiest slice
  EXPECT_LT(pass.health.busy, 1.05);
}

TEST_F(PassRunnerTest, AVerdictEndsThePassInstead) {
  verdict_ = [](const Pass& so_far) { return so_far.windows.size() == 5; };
  EXPECT_EQ(run({.shape = LoadShape::kConstantRate, .value = 200}).windows.size(), 5U);
}

TEST_F(PassRunnerTest, NothingAnsweredIsReportedNotStable) {
  answer_ = [](Exchange& exchange) {
    exchange.failure = std::make_unique<Failure>("HTTP 500", "no");
  };
  const Pass pass = run({.shape = LoadShape::kConstantRate, .value = 500},
                        [](PassOptions& options) { options.max_windows = 4; });
  EXPECT_EQ(pass.windows.size(), 4U);
  EXPECT_FALSE(pass.stability.stable);
  EXPECT_EQ(pass.stability.reason, Instability::kErrors);
}

TEST_F(PassRunnerTest, WindowsOfRequestsCountFailuresToo) {
  answer_ = [](Exchange& exchange) {
    exchange.failure = std::make_unique<Failure>("HTTP 500", "no");
  };
  const Pass pass =
      run({.shape = LoadShape::kConstantRate, .value = 500}, [](PassOptions& options) {
        options.window_requests = 50;
        options.max_windows = 2;
      });
  EXPECT_EQ(pass.windows.size(), 2U);
  EXPECT_EQ(pass.counts.completed, 0U);
}

TEST_F(PassRunnerTest, ACountedOpenLoopAsksForNoMoreThanItsCount) {
  // The last slice of 10 ms holds half as many arrivals as the others.
  const Pass pass = run({.shape = LoadShape::kConstantRate, .value = 1000, .requests = 205});
  EXPECT_EQ(pass.counts.sent, 205U);
  // A busy machine may make it send late, but it sent what it was asked for.
  EXPECT_GE(pass.health.sent_rate, 0.99 * pass.health.asked_rate);
  double asked = 0;
  for (const SeriesPoint& point : pass.series) {
    asked += point.asked_rate * static_cast<double>(point.duration.count()) / 1e9;
  }
  EXPECT_NEAR(asked, 205, 0.01);
}

TEST_F(PassRunnerTest, StopsWhenTold) {
  progress_ = [&](const Progress& now) {
    if (now.window == 2) stop_ = true;
  };
  const Pass pass = run({.value = 1});
  EXPECT_TRUE(pass.interrupted);
  EXPECT_FALSE(pass.stability.stable);
  EXPECT_GT(pass.counts.completed, 0U);
}

TEST_F(PassRunnerTest, OpenLoopCountsFromTheTimeItWasDue) {
  answer_ = [](Exchange& exchange) { exchange.done = exchange.due + milliseconds(7); };
  const Pass pass = run({.shape = LoadShape::kConstantRate, .value = 1000, .requests = 200});
  EXPECT_EQ(pass.latencies.from_due.max(), milliseconds(7));
  EXPECT_EQ(pass.latencies.from_due.min(), milliseconds(7));
  EXPECT_LE(pass.latencies.from_send.max(), milliseconds(7));
  EXPECT_EQ(pass.health.lateness.count(), 200U);
}

TEST_F(PassRunnerTest, StagesAreOnePassToTheirEnd) {
  const Pass pass = run({.shape = LoadShape::kStages,
                         .stages = {{100, 100, milliseconds(200)}, {400, 400, milliseconds(200)}}});
  EXPECT_EQ(pass.counts.completed, 100U);
  EXPECT_TRUE(pass.stability.stable);
}

// A server that counts 100 inferences from one reading to the next.
class Counters final : public StatisticsSource {
 public:
  Result<ServerSnapshot> read() override {
    ServerSnapshot snapshot;
    ServerModelStatistics model;
    model.model = "m";
    model.inference_count = ++reads_ * 100;
    model.batch_sizes = {{4, reads_}};
    snapshot.models.push_back(model);
    snapshot.metrics.push_back({"nv_x", 0, static_cast<double>(reads_)});
    return snapshot;
  }

 private:
  std::uint64_t reads_ = 0;
};

TEST_F(PassRunnerTest, TheServerIsReadBeforeAndAfterALoadThatEndsByItself) {
  Counters counters;
  statistics_ = &counters;
  const Pass pass = run({.value = 1, .requests = 50});
  ASSERT_EQ(pass.server.size(), 1U);
  EXPECT_EQ(pass.server[0].inference_count, 100U);
}

TEST_F(PassRunnerTest, ServerCountersOfTheUsedWindowsAreTheirDifference) {
  Counters counters;
  statistics_ = &counters;
  const Pass pass = run({.value = 1});
  ASSERT_EQ(pass.server.size(), 1U);
  EXPECT_EQ(pass.server[0].inference_count, 300U);  // three windows after the first snapshot
  ASSERT_EQ(pass.server[0].batch_sizes.size(), 1U);
  EXPECT_EQ(pass.server[0].batch_sizes[0].executions, 3U);
  ASSERT_EQ(pass.metrics.size(), 1U);
  EXPECT_EQ(pass.metrics[0].before, 1);
  EXPECT_EQ(pass.metrics[0].after, 4);
}

}  // namespace
}  // namespace proa::loadgen
