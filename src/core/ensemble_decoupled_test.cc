// Ensembles whose steps answer any number of times.
#include "core/statistics.h"
#include "core/testing/ensembles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Answers {x, x + 1} as often as the first value of the request says: with 100, 101, ...; then ends
// with nothing. `may_send` is asked before each.
class BurstModel final : public LoadedModel {
 public:
  using MaySend = std::function<bool(Request&)>;
  explicit BurstModel(MaySend may_send = nullptr) : may_send_(std::move(may_send)) {}
  Execution execution() const override { return Execution::kInline; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<BurstInstance>(may_send_);
  }

 private:
  class BurstInstance final : public Instance {
   public:
    explicit BurstInstance(const MaySend& may_send) : may_send_(may_send) {}
    void start(std::unique_ptr<Batch> batch, Done done) override {
      for (std::size_t r = 0; r < batch->requests().size(); ++r) {
        Request& request = *batch->requests()[r];
        const auto count = static_cast<int>(floats(request.inputs[0])[0]);
        for (int i = 0; i < count; ++i) {
          if (may_send_ && !may_send_(request)) continue;
          Response response;
          response.outputs.push_back(float_tensor({1, 2}, 100.0F + static_cast<float>(i)));
          request.sink->send(std::move(response), false);
        }
        batch->set_response(r, Response());
      }
      done(std::move(batch));
    }

   private:
    const MaySend& may_send_;
  };

  const MaySend may_send_;
};

class EnsembleDecoupledTest : public testing::Test {
 protected:
  EnsembleDecoupledTest() {
    config::ModelConfig decoupled = float_config(8);
    decoupled.decoupled = true;
    models_.add("burst", decoupled, std::make_unique<BurstModel>());
    models_.add("burst2", decoupled, std::make_unique<BurstModel>());
    models_.add_echo("echo");
    models_.add("join", two_inputs_config(), std::make_unique<EchoModel>(Execution::kInline));
  }

  void add_burst(BurstModel::MaySend may_send) {
    config::ModelConfig decoupled = float_config(8);
    decoupled.decoupled = true;
    models_.add("burst", decoupled, std::make_unique<BurstModel>(std::move(may_send)));
  }
  std::shared_ptr<Model> ensemble(config::ModelConfig config) {
    config.decoupled = true;
    return models_.add_ensemble(config);
  }
  void ask(const std::shared_ptr<Model>& model, float first) {
    auto request = float_request("a", 1, 2, first);
    request->model = model;
    request->sink = answers_.sink("a");
    model->infer(std::move(request));
  }

  Answers answers_;
  ModelRuntime runtime_;
  Models models_{runtime_};
};

TEST_F(EnsembleDecoupledTest, LaterStepsRunOnceForEachResponse) {
  const auto model = ensemble(chain_config("e", {"echo", "burst", "echo"}));
  ask(model, 3);
  EXPECT_EQ(answers_.size(), 3u);  // the last one is the end
  EXPECT_EQ(answers_.finals().at("a"), 1);
  EXPECT_FALSE(answers_.of("a").outputs.empty());
  // Once before the burst, three times behind it.
  EXPECT_EQ(models_.find("echo")->statistics().snapshot().success.count, 4u);
  EXPECT_EQ(model->statistics().snapshot().success.count, 1u);
  EXPECT_EQ(model->in_flight(), 0u);
}

TEST_F(EnsembleDecoupledTest, NoResponseIsAnAnswerToo) {
  ask(ensemble(chain_config("e", {"burst", "echo"})), 0);
  EXPECT_EQ(answers_.size(), 1u);
  EXPECT_FALSE(answers_.of("a").error);
}

TEST_F(EnsembleDecoupledTest, BurstsWithinBurstsMultiply) {
  ask(ensemble(chain_config("e", {"burst", "burst2"})), 2);
  // 100 and 101 times the inner one, and the end.
  EXPECT_EQ(answers_.size(), 202u);
  EXPECT_EQ(answers_.finals().at("a"), 1);
}

// The side that answers once is read by every response of the other.
TEST_F(EnsembleDecoupledTest, AJoinReadsWhatIsOutsideTheBurst) {
  config::ModelConfig config = diamond_config();
  config.ensemble->steps[0].model = "echo";
  config.ensemble->steps[1].model = "burst";
  Puppet slow;
  models_.add_puppet("right", slow);
  ask(ensemble(config), 3);
  EXPECT_EQ(answers_.size(), 0u);  // three frames wait for the other side
  slow.finish();
  ASSERT_EQ(answers_.size(), 3u);
  EXPECT_EQ(models_.find("join")->statistics().snapshot().success.count, 3u);
}

TEST_F(EnsembleDecoupledTest, TwoBurstsSideBySideAreRefused) {
  config::ModelConfig config = diamond_config();
  config.decoupled = true;
  config.ensemble->steps[0].model = "echo";
  config.ensemble->steps[1].model = "burst";
  config.ensemble->steps[2].model = "burst2";
  const auto made = models_.make_ensemble(config);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              HasSubstr("step 3 (model 'join') reads tensors of steps 1 and 2"));
}

TEST_F(EnsembleDecoupledTest, AnEnsembleThatSaysItAnswersOnceIsRefused) {
  const auto made = models_.make_ensemble(chain_config("e", {"burst"}));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("load the ensemble again"));
}

TEST_F(EnsembleDecoupledTest, TensorsThatAreGoneHoldNoMemory) {
  MemoryBudget budget(1 << 20);
  Puppet slow;
  models_.add_puppet("slow", slow);
  auto request = float_request("a", 1, 2, 50);
  request->memory = budget.reserve(100);
  request->model = ensemble(chain_config("e", {"burst", "slow"}));
  request->sink = answers_.sink("a");
  Model& model = *request->model;
  model.infer(std::move(request));
  constexpr std::size_t kTensor = 2 * sizeof(float);
  EXPECT_GE(budget.used(), 100 + 50 * kTensor);
  for (int i = 0; i < 49; ++i) {
    slow.wait_for(1);
    slow.finish();
  }
  slow.wait_for(1);
  EXPECT_LE(budget.used(), 100 + 2 * kTensor);
  slow.finish();
  answers_.wait_for(50);
}

TEST_F(EnsembleDecoupledTest, AStepThatWaitsForRoomIsWokenByAFailureBehindIt) {
  bool woken = false;
  add_burst([&](Request& request) {
    if (request.sink->credit() > 0) return true;
    request.sink->when_credit([&] { woken = true; });
    return false;
  });
  Puppet open;
  models_.add("open", float_config(8, {Shape::kAny}), std::make_unique<PuppetModel>(open));
  models_.add("three", float_config(8, {3}), std::make_unique<EchoModel>(Execution::kInline));
  config::ModelConfig config = chain_config("e", {"burst", "open", "three"});
  config.outputs[0].dims = {3};
  config.ensemble->max_inflight_requests = 1;
  ask(ensemble(config), 2);
  EXPECT_FALSE(woken);
  open.finish();  // two numbers, which "three" does not take
  EXPECT_TRUE(woken);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_TRUE(answers_.of("a").error);
}

TEST_F(EnsembleDecoupledTest, AStepHasCreditForSoManyResponses) {
  int refused = 0;
  add_burst([&](Request& request) {
    refused += request.sink->credit() == 0 ? 1 : 0;
    return request.sink->credit() > 0;
  });
  Puppet slow;
  models_.add_puppet("slow", slow);
  config::ModelConfig config = chain_config("e", {"burst", "slow"});
  config.ensemble->max_inflight_requests = 2;
  ask(ensemble(config), 5);
  EXPECT_EQ(refused, 3);
  while (slow.running() > 0) slow.finish();
  EXPECT_EQ(answers_.size(), 2u);
}

}  // namespace
}  // namespace proa::core
