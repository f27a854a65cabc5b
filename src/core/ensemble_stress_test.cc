// Many threads, steps of every kind, cancellations and step versions that change: every request has
// exactly one final response, and an answer holds its own rows.
#include <atomic>
#include <random>
#include <thread>

#include "base/thread.h"
#include "core/statistics.h"
#include "core/testing/ensembles.h"
#include "core/testing/tally.h"
#include "gtest/gtest.h"

namespace proa::core {
namespace {

// Echoes, and fails every n-th batch.
class FailingInstance final : public Instance {
 public:
  void start(std::unique_ptr<Batch> batch, Done done) override {
    if (++batches_ % 7 == 0) {
      batch->fail(error::internal("the seventh"));
    } else {
      echo_inputs(*batch);
    }
    done(std::move(batch));
  }

 private:
  int batches_ = 0;
};

class FailingModel final : public LoadedModel {
 public:
  Execution execution() const override { return Execution::kBlocking; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<FailingInstance>();
  }
};

class EnsembleStressTest : public testing::Test {
 protected:
  static constexpr int kThreads = 4;
  static constexpr int kEach = 2000;

  EnsembleStressTest() {
    config::ModelConfig batching = float_config(8);
    batching.dynamic_batching.emplace();
    models_.add("top", batching, std::make_unique<EchoModel>(Execution::kInline));
    models_.add("left", batching, std::make_unique<EchoModel>(Execution::kBlocking));
    models_.add("right", batching, std::make_unique<EchoModel>(Execution::kAsync));
    models_.add("join", two_inputs_config(), std::make_unique<EchoModel>(Execution::kInline));
    models_.add("failing", batching, std::make_unique<FailingModel>());
  }

  // Sends everything and waits for the answers; some requests are cancelled on their way.
  void run(const std::shared_ptr<Model>& model, Tally& tally) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::minstd_rand random(static_cast<unsigned>(t + 1));
        std::vector<std::shared_ptr<CancellationToken>> tokens;
        for (int i = 0; i < kEach; ++i) {
          const auto index = static_cast<std::size_t>(t * kEach + i);
          auto request = float_request(std::to_string(index), 1, 2, static_cast<float>(index));
          request->model = model;
          request->sink = std::make_unique<TallySink>(tally, index);
          request->cancellation = std::make_shared<CancellationToken>();
          tokens.push_back(request->cancellation);
          model->infer(std::move(request));
          if (random() % 5 == 0) tokens[random() % tokens.size()]->cancel();
        }
      });
    }
    threads.clear();
    tally.wait();
  }

  void expect_one_final_each(const Tally& tally) {
    for (std::size_t i = 0; i < tally.finals.size(); ++i) {
      ASSERT_EQ(tally.finals[i].load(), 1) << i;
    }
    EXPECT_EQ(tally.wrong.load(), 0);
  }

  ModelRuntime runtime_;
  Models models_{runtime_};
};

TEST_F(EnsembleStressTest, ADiamondAnswersEveryRequestOnce) {
  Tally tally(kThreads * kEach);
  const auto ensemble = models_.add_ensemble(diamond_config());
  run(ensemble, tally);
  expect_one_final_each(tally);
  const StatisticsSnapshot counters = ensemble->statistics().snapshot();
  EXPECT_EQ(counters.success.count, static_cast<std::uint64_t>(tally.succeeded.load()));
  EXPECT_EQ(counters.success.count + counters.fail.count, tally.finals.size());
}

TEST_F(EnsembleStressTest, StepsThatFailAndChange) {
  Tally tally(kThreads * kEach);
  const auto ensemble = models_.add_ensemble(
      chain_config("e", {"top", "failing", "left", "right", "top", "top", "left"}));
  std::atomic<bool> stop = false;
  std::jthread changes([&] {
    for (int i = 2; !stop; ++i) models_.add_echo("top", Execution::kInline, i);
  });
  run(ensemble, tally);
  stop = true;
  changes.join();
  expect_one_final_each(tally);
  EXPECT_GT(tally.succeeded.load(), 0);
  EXPECT_LT(tally.succeeded.load(), kThreads * kEach);
}

TEST_F(EnsembleStressTest, WhatIsAboveTheBoundIsRefusedOnce) {
  Tally tally(kThreads * kEach);
  config::ModelConfig config = diamond_config();
  config.ensemble->max_inflight_requests = 3;
  run(models_.add_ensemble(config), tally);
  expect_one_final_each(tally);
  EXPECT_GT(tally.succeeded.load(), 0);
}

}  // namespace
}  // namespace proa::core
