#include "core/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <thread>

#include "base/testing/manual_timer.h"
#include "core/testing/puppet_model.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"

namespace proa::core {
namespace {

using std::chrono::microseconds;
using ::testing::HasSubstr;

// Drives a scheduler by hand: instances are puppets, time stands still. With kAsync everything
// happens on the test's thread.
class SchedulerTest : public ::testing::Test {
 protected:
  struct Setup {
    Execution execution = Execution::kAsync;
    int instances = 1;
    int max_in_flight = 1;
    Gate* gate = nullptr;
  };

  ~SchedulerTest() override {
    if (scheduler_ != nullptr) scheduler_->stop();
  }

  void start(config::ModelConfig config, Setup setup) {
    std::vector<std::unique_ptr<Instance>> instances;
    for (int i = 0; i < setup.instances; ++i) {
      auto instance = std::make_unique<PuppetInstance>(puppet_, setup.max_in_flight);
      instances_.push_back(instance.get());
      instances.push_back(std::move(instance));
    }
    statistics_ = std::make_shared<ModelStatistics>(instances.size(), clock_);
    scheduler_ = std::make_shared<Scheduler>(config, std::move(instances),
                                             Scheduler::Options{.execution = setup.execution,
                                                                .clock = &clock_,
                                                                .timer = &timer_,
                                                                .gate = setup.gate,
                                                                .statistics = statistics_});
    EXPECT_TRUE(scheduler_->start());
  }
  void start(config::ModelConfig config) { start(std::move(config), Setup{}); }

  // A model with max_batch_size 4 and this `dynamic_batching`.
  static config::ModelConfig batching(config::DynamicBatching batching = {}) {
    auto config = float_config(4);
    config.dynamic_batching = std::move(batching);
    return config;
  }

  std::unique_ptr<Request> request(const std::string& id, std::int64_t rows = 1) {
    auto made = float_request(id, rows);
    made->sink = answers_.sink(id);
    return made;
  }
  void submit(const std::string& id, std::int64_t rows = 1) {
    scheduler_->submit(request(id, rows));
  }

  ErrorCode error_code(const std::string& id) { return answers_.of(id).error.value().code; }
  std::string message(const std::string& id) { return answers_.of(id).error.value().message; }
  std::uint64_t failures(FailureReason reason) {
    return statistics_->snapshot().failures[static_cast<std::size_t>(reason)];
  }

  ManualClock clock_;
  ManualTimer timer_{clock_};
  Puppet puppet_;
  std::vector<PuppetInstance*> instances_;
  Answers answers_;
  std::shared_ptr<ModelStatistics> statistics_;
  std::shared_ptr<Scheduler> scheduler_;
};

TEST_F(SchedulerTest, WithoutDynamicBatchingEachRequestIsABatch) {
  start(float_config(4));
  for (const char* id : {"a", "b", "c"}) submit(id);
  EXPECT_EQ(puppet_.running(), 1u);
  EXPECT_EQ(puppet_.ids(0), "a");
  EXPECT_EQ(statistics_->snapshot().pending, 2u);
  EXPECT_EQ(scheduler_->in_flight(), 3u);
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(0), "b");
  puppet_.finish();
  puppet_.finish();
  EXPECT_EQ(answers_.ids(), "a b c");
  EXPECT_EQ(scheduler_->in_flight(), 0u);
}

TEST_F(SchedulerTest, AllInstancesWork) {
  start(float_config(4), {.instances = 2});
  for (const char* id : {"a", "b", "c"}) submit(id);
  EXPECT_EQ(puppet_.running(), 2u);
  puppet_.finish(1);
  EXPECT_EQ(puppet_.ids(0), "a");
  EXPECT_EQ(puppet_.ids(1), "c");
}

TEST_F(SchedulerTest, ALostInstanceIsPassedOverWhileThereIsAnother) {
  start(float_config(4), {.instances = 2});
  instances_[0]->lose();
  for (const char* id : {"a", "b"}) submit(id);
  EXPECT_EQ(puppet_.running(), 1u);
  // The last one gets its batches all the same: it says why it cannot compute them.
  instances_[1]->lose();
  submit("c");
  EXPECT_EQ(puppet_.running(), 2u);
  puppet_.fail(0, error::unavailable("no device"));
  puppet_.fail(0, error::unavailable("no device"));
  puppet_.fail(0, error::unavailable("no device"));
  EXPECT_EQ(answers_.ids(), "!a !b !c");
}

TEST_F(SchedulerTest, AnInstanceHoldsAsManyBatchesAsItCan) {
  start(float_config(4), {.max_in_flight = 2});
  for (const char* id : {"a", "b", "c"}) submit(id);
  EXPECT_EQ(puppet_.running(), 2u);
}

TEST_F(SchedulerTest, AnIdleInstanceComesBeforeOneThatCouldHoldMore) {
  start(float_config(4), {.instances = 2, .max_in_flight = 3});
  for (const char* id : {"a", "b", "c"}) submit(id);
  EXPECT_EQ(instances_[0]->started(), 2);
  EXPECT_EQ(instances_[1]->started(), 1);
  submit("d");
  EXPECT_EQ(instances_[1]->started(), 2);
}

TEST_F(SchedulerTest, BatchesAreSealedOnlyForAFreeInstance) {
  start(batching());
  submit("a");
  for (const char* id : {"b", "c", "d"}) submit(id);
  EXPECT_EQ(puppet_.running(), 1u);
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(0), "b c d");
  EXPECT_EQ(puppet_.close_reason(0), CloseReason::kIdle);
}

TEST_F(SchedulerTest, AnswersAreTheRequestsOwnRows) {
  start(batching());
  submit("a");
  for (const char* id : {"b", "c"}) submit(id, id[0] == 'b' ? 2 : 1);
  puppet_.finish();
  puppet_.finish();
  EXPECT_EQ(answers_.of("b").outputs[0].shape, Shape({2, 2}));
  EXPECT_EQ(floats(answers_.of("c").outputs[0]), (std::vector<float>{0, 1}));
}

TEST_F(SchedulerTest, DelayHoldsABatchUntilTheTimerFires) {
  start(batching({.max_queue_delay = microseconds(100)}));
  submit("a");
  timer_.advance(microseconds(60));
  submit("b");
  EXPECT_EQ(puppet_.running(), 0u);
  timer_.advance(microseconds(39));
  EXPECT_EQ(puppet_.running(), 0u);
  timer_.advance(microseconds(1));
  EXPECT_EQ(puppet_.ids(0), "a b");
  EXPECT_EQ(puppet_.close_reason(0), CloseReason::kDelay);
}

TEST_F(SchedulerTest, AFullBatchDoesNotWait) {
  start(batching({.max_queue_delay = microseconds(100)}));
  for (const char* id : {"a", "b", "c", "d", "e"}) submit(id);
  EXPECT_EQ(puppet_.ids(0), "a b c d");
  EXPECT_EQ(puppet_.close_reason(0), CloseReason::kFull);
  timer_.advance(microseconds(500));  // no instance is free: "e" waits
  EXPECT_EQ(puppet_.running(), 1u);
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(0), "e");
}

TEST_F(SchedulerTest, WhatDoesNotFitClosesTheBatch) {
  start(batching({.max_queue_delay = microseconds(100)}), {.instances = 2});
  submit("a", 3);
  submit("b", 2);
  EXPECT_EQ(puppet_.running(), 1u);
  EXPECT_EQ(puppet_.ids(0), "a");
  EXPECT_EQ(puppet_.close_reason(0), CloseReason::kNextNoFit);
  timer_.advance(microseconds(100));
  EXPECT_EQ(puppet_.ids(1), "b");
}

TEST_F(SchedulerTest, CloseReasonsAreCounted) {
  start(batching());
  submit("a");
  puppet_.finish();
  EXPECT_EQ(statistics_->snapshot().close_reasons[static_cast<std::size_t>(CloseReason::kIdle)],
            1u);
}

TEST_F(SchedulerTest, TimeoutsFireWhileTheInstanceIsBusy) {
  start(batching({.default_queue_policy = {.default_timeout = microseconds(100)}}));
  submit("a");
  submit("b");
  timer_.advance(microseconds(99));
  EXPECT_EQ(answers_.size(), 0u);
  timer_.advance(microseconds(1));
  EXPECT_EQ(answers_.ids(), "!b");
  EXPECT_EQ(error_code("b"), ErrorCode::kUnavailable);
  EXPECT_THAT(message("b"), HasSubstr("Request timeout expired"));
  EXPECT_THAT(message("b"), HasSubstr("'echo'"));
  EXPECT_EQ(failures(FailureReason::kRejected), 1u);
  puppet_.finish();  // "a" was being computed: it is never timed out
  EXPECT_EQ(answers_.ids(), "!b a");
  EXPECT_EQ(scheduler_->in_flight(), 0u);
}

TEST_F(SchedulerTest, DelayedRequestsAreServedLast) {
  start(batching(
      {.default_queue_policy = {.timeout_action = config::QueuePolicy::TimeoutAction::kDelay,
                                .default_timeout = microseconds(100)}}));
  submit("a", 4);
  submit("b", 4);
  timer_.advance(microseconds(100));
  submit("c", 4);
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(0), "c");
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(0), "b");
}

TEST_F(SchedulerTest, AFullQueueRefusesAtOnce) {
  start(batching({.default_queue_policy = {.max_queue_size = 1}}));
  submit("a");
  submit("b");
  submit("c");
  EXPECT_EQ(answers_.ids(), "!c");
  EXPECT_EQ(error_code("c"), ErrorCode::kUnavailable);
  EXPECT_THAT(message("c"), HasSubstr("Exceeds maximum queue size"));
  EXPECT_EQ(failures(FailureReason::kRejected), 1u);
}

TEST_F(SchedulerTest, AFullQueueIsNotHeldBackForMore) {
  start(batching(
      {.max_queue_delay = microseconds(100), .default_queue_policy = {.max_queue_size = 2}}));
  submit("a");
  EXPECT_EQ(puppet_.running(), 0u);
  submit("b");
  EXPECT_EQ(puppet_.ids(0), "a b");
  EXPECT_EQ(puppet_.close_reason(0), CloseReason::kNextNoFit);
}

TEST_F(SchedulerTest, HigherPrioritiesGoFirst) {
  start(batching({.priority_levels = 2, .default_priority_level = 2}));
  submit("a", 4);
  submit("b", 4);
  auto urgent = request("c", 4);
  urgent->priority = 1;
  scheduler_->submit(std::move(urgent));
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(0), "c");
}

TEST_F(SchedulerTest, DeadlinesFreeQueuedRequestsOfAnyModel) {
  start(float_config(4));
  submit("a");
  auto late = request("b");
  late->deadline = clock_.now() + microseconds(50);
  scheduler_->submit(std::move(late));
  timer_.advance(microseconds(50));
  EXPECT_EQ(error_code("b"), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(failures(FailureReason::kCanceled), 1u);
  puppet_.finish();
  EXPECT_EQ(answers_.ids(), "!b a");
}

TEST_F(SchedulerTest, RequestsThatComeTooLateAreNotQueued) {
  start(float_config(4));
  auto late = request("a");
  late->deadline = clock_.now();
  scheduler_->submit(std::move(late));
  EXPECT_EQ(error_code("a"), ErrorCode::kDeadlineExceeded);
  auto cancelled = request("b");
  cancelled->cancellation = std::make_shared<CancellationToken>();
  cancelled->cancellation->cancel();
  scheduler_->submit(std::move(cancelled));
  EXPECT_EQ(error_code("b"), ErrorCode::kCancelled);
  EXPECT_EQ(puppet_.running(), 0u);
}

TEST_F(SchedulerTest, CancellingFreesAQueuedRequestAtOnce) {
  start(float_config(4));
  submit("a");
  auto token = std::make_shared<CancellationToken>();
  auto queued = request("b");
  queued->cancellation = token;
  scheduler_->submit(std::move(queued));
  EXPECT_EQ(statistics_->snapshot().pending, 1u);
  token->cancel();
  EXPECT_EQ(error_code("b"), ErrorCode::kCancelled);
  EXPECT_EQ(statistics_->snapshot().pending, 0u);
  EXPECT_EQ(failures(FailureReason::kCanceled), 1u);
}

TEST_F(SchedulerTest, CancellingARunningRequestChangesNothing) {
  start(float_config(4));
  auto token = std::make_shared<CancellationToken>();
  auto running = request("a");
  running->cancellation = token;
  scheduler_->submit(std::move(running));
  token->cancel();
  puppet_.finish();
  EXPECT_EQ(answers_.ids(), "a");
}

TEST_F(SchedulerTest, PreserveOrderingHoldsLaterAnswers) {
  start(batching({.preserve_ordering = true}), {.instances = 2});
  submit("a");
  submit("b");
  puppet_.finish(1);
  EXPECT_EQ(answers_.ids(), "");
  puppet_.finish(0);
  EXPECT_EQ(answers_.ids(), "a b");
}

TEST_F(SchedulerTest, FailedBatchesAnswerEachRequest) {
  start(batching());
  submit("a");
  submit("b");
  submit("c");
  puppet_.fail(0, error::internal("first"));
  puppet_.fail(0, error::internal("second"));
  EXPECT_EQ(answers_.ids(), "!a !b !c");
  EXPECT_EQ(message("c"), "second");
  EXPECT_EQ(failures(FailureReason::kBackend), 3u);
}

TEST_F(SchedulerTest, ShutDownAnswersTheQueueAndLetsBatchesFinish) {
  start(float_config(4));
  submit("a");
  submit("b");
  scheduler_->shut_down();
  EXPECT_EQ(answers_.ids(), "!b");
  EXPECT_EQ(error_code("b"), ErrorCode::kUnavailable);
  submit("c");
  EXPECT_EQ(error_code("c"), ErrorCode::kUnavailable);
  puppet_.finish();
  EXPECT_EQ(answers_.ids(), "!b !c a");
}

// Lets a fixed number of batches in.
class CountingGate final : public Gate {
 public:
  bool try_enter(std::size_t) override { return entered < limit && ++entered > 0; }
  void leave(std::size_t) override { --entered; }
  int limit = 1;
  int entered = 0;
};

TEST_F(SchedulerTest, TheGateHoldsBatchesBack) {
  CountingGate gate;
  start(float_config(4), {.instances = 3, .gate = &gate});
  for (const char* id : {"a", "b", "c"}) submit(id);
  EXPECT_EQ(puppet_.running(), 1u);
  gate.limit = 2;
  scheduler_->gate_opened();
  EXPECT_EQ(puppet_.running(), 2u);
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(1), "c");
  puppet_.finish();
  puppet_.finish();
  EXPECT_EQ(gate.entered, 0);
}

TEST_F(SchedulerTest, TimersOfADestroyedSchedulerDoNothing) {
  start(float_config(4));
  submit("a");
  auto late = request("b");
  late->deadline = clock_.now() + microseconds(50);
  scheduler_->submit(std::move(late));
  puppet_.finish();
  puppet_.finish();
  scheduler_->stop();
  scheduler_.reset();
  timer_.advance(microseconds(100));
  EXPECT_EQ(answers_.ids(), "a b");
}

TEST_F(SchedulerTest, BlockingInstancesRunOnTheirOwnThread) {
  start(batching(), {.execution = Execution::kBlocking});
  submit("a");
  puppet_.wait_for(1);
  for (const char* id : {"b", "c"}) submit(id);
  puppet_.finish();
  puppet_.wait_for(1);
  EXPECT_EQ(puppet_.ids(0), "b c");
  puppet_.finish();
  EXPECT_EQ(answers_.ids(), "a b c");
}

TEST_F(SchedulerTest, ABurstWithinTheInstancesCapacityIsNotRefused) {
  start(batching({.default_queue_policy = {.max_queue_size = 1}}),
        {.execution = Execution::kBlocking, .instances = 2});
  submit("a");
  submit("b");
  puppet_.wait_for(2);
  EXPECT_EQ(answers_.ids(), "");
  puppet_.finish();
  puppet_.finish();
}

// Asks for one more request from inside each answer, and notes on which thread they ran.
class EndlessSink final : public ResponseSink {
 public:
  struct Shared {
    Scheduler* scheduler = nullptr;
    int left = 0;
    std::vector<std::thread::id> threads;
    std::promise<void> done;
  };
  explicit EndlessSink(Shared& shared) : shared_(shared) {}
  void send(Response, bool) override {
    shared_.threads.push_back(std::this_thread::get_id());
    if (--shared_.left == 0) return shared_.done.set_value();
    auto next = float_request("next");
    next->sink = std::make_unique<EndlessSink>(shared_);
    shared_.scheduler->submit(std::move(next));
  }

 private:
  Shared& shared_;
};

TEST_F(SchedulerTest, InlineBatchesDoNotCaptureTheCallersThread) {
  EndlessSink::Shared shared{.left = 20};
  std::vector<std::unique_ptr<Instance>> instances;
  instances.push_back(std::make_unique<EchoInstance>());
  scheduler_ = std::make_shared<Scheduler>(
      float_config(4), std::move(instances),
      Scheduler::Options{.execution = Execution::kInline,
                         .clock = &clock_,
                         .timer = &timer_,
                         .statistics = std::make_shared<ModelStatistics>(1, clock_)});
  shared.scheduler = scheduler_.get();
  EXPECT_TRUE(scheduler_->start());
  auto first = request("first");
  first->sink = std::make_unique<EndlessSink>(shared);
  scheduler_->submit(std::move(first));
  shared.done.get_future().wait();
  const auto here =
      std::count(shared.threads.begin(), shared.threads.end(), std::this_thread::get_id());
  EXPECT_EQ(here, 4);
  EXPECT_EQ(shared.threads.size(), 20u);
}

// A sink that asks its scheduler for more from inside the answer, as an ensemble does.
class ChainingSink final : public ResponseSink {
 public:
  ChainingSink(Scheduler& scheduler, std::unique_ptr<Request> next)
      : scheduler_(scheduler), next_(std::move(next)) {}
  void send(Response, bool) override { scheduler_.submit(std::move(next_)); }

 private:
  Scheduler& scheduler_;
  std::unique_ptr<Request> next_;
};

TEST_F(SchedulerTest, AnswersMayBringNewRequests) {
  start(float_config(4), {.execution = Execution::kAsync});
  auto first = request("a");
  first->sink = std::make_unique<ChainingSink>(*scheduler_, request("b"));
  scheduler_->submit(std::move(first));
  puppet_.finish();
  EXPECT_EQ(puppet_.ids(0), "b");
  puppet_.finish();
  EXPECT_EQ(answers_.ids(), "b");
}

}  // namespace
}  // namespace proa::core
