#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <random>
#include <thread>

#include "base/thread.h"
#include "core/model.h"
#include "core/statistics.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/requests.h"
#include "core/testing/tally.h"

namespace proa::core {
namespace {

using std::chrono::microseconds;

// Echoes on a thread of its own, like a device.
class DeviceInstance final : public Instance {
 public:
  DeviceInstance() {
    thread_ = start_thread("device", [this] { run(); });
  }
  ~DeviceInstance() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void start(std::unique_ptr<Batch> batch, Done done) override PROA_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      work_.emplace_back(std::move(batch), std::move(done));
    }
    changed_.notify_one();
  }
  int max_in_flight() const override { return 2; }

 private:
  void run() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!stopping_ || !work_.empty()) {
      if (work_.empty()) {
        changed_.wait(mutex_);
        continue;
      }
      auto [batch, done] = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      echo_inputs(*batch);
      done(std::move(batch));
      done = nullptr;
      lock.lock();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::pair<std::unique_ptr<Batch>, Done>> work_ PROA_GUARDED_BY(mutex_);
  bool stopping_ PROA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

class StressModel final : public LoadedModel {
 public:
  explicit StressModel(Execution execution) : execution_(execution) {}
  Execution execution() const override { return execution_; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    if (execution_ == Execution::kAsync) return std::make_unique<DeviceInstance>();
    return std::make_unique<EchoInstance>();
  }

 private:
  const Execution execution_;
};

struct StressCase {
  const char* name;
  Execution execution;
  int instances;
  std::optional<config::DynamicBatching> batching;
};

config::DynamicBatching busy_batching(bool preserve_ordering) {
  config::DynamicBatching batching;
  batching.max_queue_delay = microseconds(50);
  batching.preserve_ordering = preserve_ordering;
  batching.default_queue_policy = {
      .default_timeout = microseconds(300), .allow_timeout_override = true, .max_queue_size = 64};
  if (!preserve_ordering) {
    batching.priority_levels = 3;
    batching.default_priority_level = 2;
    batching.priority_queue_policies[3] = {
        .timeout_action = config::QueuePolicy::TimeoutAction::kDelay,
        .default_timeout = microseconds(20)};
  }
  return batching;
}

class SchedulerStressTest : public ::testing::TestWithParam<StressCase> {};

// One thread's requests: some are cancelled while they may be anywhere, some have little time.
void submit_many(const std::shared_ptr<Model>& model, Tally& tally, std::size_t begin,
                 std::size_t end) {
  std::mt19937 random(static_cast<unsigned>(begin));
  std::deque<std::shared_ptr<CancellationToken>> tokens;
  for (std::size_t i = begin; i < end; ++i) {
    const auto rows = static_cast<std::int64_t>(1 + random() % 3);
    auto request =
        float_request(std::to_string(i), rows, 1 + static_cast<std::int64_t>(random() % 2),
                      static_cast<float>(i));
    request->model = model;
    request->sink = std::make_unique<TallySink>(tally, i);
    request->priority = random() % 4;
    request->timeout = microseconds(random() % 400);
    if (random() % 4 == 0) {
      request->deadline = steady_clock().now() + microseconds(random() % 300);
    }
    if (random() % 2 == 0) {
      tokens.push_back(std::make_shared<CancellationToken>());
      request->cancellation = tokens.back();
    }
    model->infer(std::move(request));
    if (tokens.size() > 8) {
      tokens.front()->cancel();
      tokens.pop_front();
    }
  }
}

TEST_P(SchedulerStressTest, EveryRequestGetsOneFinalAnswer) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kPerThread = 1500;
  const StressCase& c = GetParam();
  auto config = float_config(8, {Shape::kAny});
  config.dynamic_batching = c.batching;
  config.instance_groups = {{.count = c.instances}};
  Tally tally(kThreads * kPerThread);
  ModelRuntime runtime;
  auto model =
      Model::create(config, 1, std::make_unique<StressModel>(c.execution), runtime.options())
          .value();
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back(
          [&, t] { submit_many(model, tally, t * kPerThread, (t + 1) * kPerThread); });
    }
  }
  tally.wait();
  for (std::size_t i = 0; i < tally.finals.size(); ++i) ASSERT_EQ(tally.finals[i], 1) << i;
  EXPECT_EQ(tally.wrong, 0);
  const auto counts = model->statistics().snapshot();
  EXPECT_EQ(counts.success.count + counts.fail.count, tally.finals.size());
  EXPECT_EQ(counts.pending, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, SchedulerStressTest,
    ::testing::Values(StressCase{"InlineFifo", Execution::kInline, 2, std::nullopt},
                      StressCase{"InlineBatching", Execution::kInline, 1, busy_batching(false)},
                      StressCase{"BlockingFifo", Execution::kBlocking, 1, std::nullopt},
                      StressCase{"BlockingBatching", Execution::kBlocking, 2, busy_batching(false)},
                      StressCase{"BlockingOrdered", Execution::kBlocking, 3, busy_batching(true)},
                      StressCase{"AsyncFifo", Execution::kAsync, 1, std::nullopt},
                      StressCase{"AsyncBatching", Execution::kAsync, 2, busy_batching(false)}),
    [](const auto& info) { return info.param.name; });

// The last references go with the requests, on any thread, while others shut the model down.
TEST(SchedulerShutDownTest, ShutDownMeetsRequests) {
  for (const auto execution : {Execution::kInline, Execution::kBlocking, Execution::kAsync}) {
    constexpr std::size_t kRequests = 400;
    Tally tally(kRequests);
    ModelRuntime runtime;
    auto model = Model::create(float_config(8), 1, std::make_unique<StressModel>(execution),
                               runtime.options())
                     .value();
    {
      std::jthread submitter([&tally, model] { submit_many(model, tally, 0, kRequests); });
      std::jthread stopper([&tally, model] {
        while (tally.open > 350) std::this_thread::yield();
        model->shut_down();
      });
      model.reset();
    }
    tally.wait();
    for (const auto& finals : tally.finals) ASSERT_EQ(finals, 1);
  }
}

}  // namespace
}  // namespace proa::core
