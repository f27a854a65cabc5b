#include "core/ensemble.h"

#include "core/testing/ensembles.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EnsembleTest : public testing::Test {
 protected:
  // A request of one row that holds {first, first + 1}.
  void ask(const std::shared_ptr<Model>& model, const std::string& id, float first = 0) {
    auto request = float_request(id, 1, 2, first);
    request->model = model;
    request->sink = answers_.sink(id);
    model->infer(std::move(request));
  }
  std::string error_of(const std::string& id) const {
    const Response response = answers_.of(id);
    return response.error ? response.error->message : "";
  }

  Answers answers_;
  ModelRuntime runtime_;
  Models models_{runtime_};
};

TEST_F(EnsembleTest, TensorsGoThroughTheStepsByReference) {
  models_.add_echo("first");
  models_.add_echo("second");
  const auto ensemble = models_.add_ensemble(chain_config("e", {"first", "second"}));
  auto request = float_request("a", 1, 2, 5);
  const std::byte* sent = request->inputs[0].data.data();
  request->model = ensemble;
  request->sink = answers_.sink("a");
  ensemble->infer(std::move(request));
  ASSERT_EQ(answers_.ids(), "a");
  EXPECT_THAT(floats(answers_.of("a").outputs[0]), ElementsAre(5, 6));
  EXPECT_EQ(answers_.of("a").outputs[0].data.data(), sent);
  EXPECT_EQ(ensemble->in_flight(), 0u);
}

TEST_F(EnsembleTest, StepsOfEveryKindFollowEachOther) {
  models_.add_echo("inline", Execution::kInline);
  models_.add_echo("blocking", Execution::kBlocking);
  models_.add_echo("async", Execution::kAsync);
  const auto ensemble = models_.add_ensemble(
      chain_config("e", {"blocking", "inline", "async", "async", "inline", "blocking"}));
  for (int i = 0; i < 100; ++i) ask(ensemble, std::to_string(i), static_cast<float>(i));
  answers_.wait_for(100);
  EXPECT_THAT(floats(answers_.of("42").outputs[0]), ElementsAre(42, 43));
  for (const auto& [id, finals] : answers_.finals()) EXPECT_EQ(finals, 1) << id;
}

TEST_F(EnsembleTest, AHundredInlineStepsLeaveTheStackFlat) {
  std::vector<std::string> steps;
  const auto depth = std::make_shared<StackDepth>();
  for (int i = 0; i < 100; ++i) {
    steps.push_back("s" + std::to_string(i));
    models_.add(steps.back(), float_config(8), std::make_unique<DepthModel>(depth));
  }
  ask(models_.add_ensemble(chain_config("e", steps)), "a", 3);
  answers_.wait_for(1);
  EXPECT_THAT(floats(answers_.of("a").outputs[0]), ElementsAre(3, 4));
  EXPECT_EQ(depth->batches, 100);
  // A thread of a model's own starts what follows from within its batch.
  EXPECT_LE(depth->deepest, 2);
}

TEST_F(EnsembleTest, ADiamondRunsItsSidesAtOnceAndJoinsThem) {
  models_.add_echo("top");
  Puppet left, right;
  models_.add_puppet("left", left);
  models_.add_puppet("right", right);
  models_.add("join", two_inputs_config(), std::make_unique<EchoModel>(Execution::kInline));
  const auto ensemble = models_.add_ensemble(diamond_config());
  ask(ensemble, "a", 7);
  EXPECT_EQ(left.running(), 1u);
  EXPECT_EQ(right.running(), 1u);
  right.finish();
  EXPECT_EQ(answers_.size(), 0u);
  left.finish();
  ASSERT_EQ(answers_.ids(), "a");
  EXPECT_THAT(floats(answers_.of("a").outputs[0]), ElementsAre(7, 8));
  EXPECT_THAT(floats(answers_.of("a").outputs[1]), ElementsAre(7, 8));
}

TEST_F(EnsembleTest, RunsOnlyWhatTheWantedOutputsNeed) {
  models_.add_echo("top");
  Puppet left, right;
  models_.add_puppet("left", left);
  models_.add_puppet("right", right);
  config::ModelConfig config = diamond_config();
  config.ensemble->steps.pop_back();  // the sides are the outputs
  config.outputs[0].name = "l";
  config.outputs[1].name = "r";
  const auto ensemble = models_.add_ensemble(config);
  auto request = float_request("a", 1, 2, 7);
  request->model = ensemble;
  request->requested_outputs = {1};
  request->sink = answers_.sink("a");
  ensemble->infer(std::move(request));
  EXPECT_EQ(left.running(), 0u);
  right.finish();
  const Response answer = answers_.of("a");
  EXPECT_EQ(answer.outputs[0].type, DataType::kInvalid);
  EXPECT_THAT(floats(answer.outputs[1]), ElementsAre(7, 8));
}

TEST_F(EnsembleTest, AFailedStepFailsTheRequestAndNamesItself) {
  models_.add_echo("first");
  Puppet puppet;
  models_.add_puppet("second", puppet);
  models_.add_echo("third");
  const auto ensemble = models_.add_ensemble(chain_config("e", {"first", "second", "third"}));
  ask(ensemble, "a");
  puppet.fail(0, error::internal("no luck"));
  EXPECT_EQ(answers_.ids(), "!a");
  EXPECT_EQ(error_of("a"), "in ensemble 'e', step 1 (model 'second' version 1): no luck");
  const StatisticsSnapshot counters = ensemble->statistics().snapshot();
  EXPECT_EQ(counters.failures[static_cast<std::size_t>(FailureReason::kOther)], 1u);
  EXPECT_EQ(counters.success.count, 0u);
  EXPECT_EQ(models_.find("third")->statistics().snapshot().success.count, 0u);
}

// The other side is under way and must end first.
TEST_F(EnsembleTest, AnErrorIsToldOnceWhenAllStepsHaveEnded) {
  models_.add_echo("top");
  Puppet left, right;
  models_.add_puppet("left", left);
  models_.add_puppet("right", right);
  models_.add("join", two_inputs_config(), std::make_unique<EchoModel>(Execution::kInline));
  const auto ensemble = models_.add_ensemble(diamond_config());
  ask(ensemble, "a");
  left.fail(0, error::internal("left"));
  EXPECT_EQ(answers_.size(), 0u);
  right.fail(0, error::internal("right"));
  EXPECT_EQ(answers_.ids(), "!a");
  EXPECT_THAT(error_of("a"), HasSubstr("step 1 (model 'left' version 1): left"));
}

TEST_F(EnsembleTest, CancellationEndsARequestOnItsWay) {
  Puppet puppet;
  models_.add_puppet("first", puppet);
  models_.add_puppet("second", puppet);
  const auto ensemble = models_.add_ensemble(chain_config("e", {"first", "second"}));
  const auto token = std::make_shared<CancellationToken>();
  const auto ask_with = [&](const std::string& id) {
    auto request = float_request(id);
    request->model = ensemble;
    request->cancellation = token;
    request->sink = answers_.sink(id);
    ensemble->infer(std::move(request));
  };
  ask_with("running");
  ask_with("queued");  // the puppet's only token is taken
  token->cancel();
  EXPECT_EQ(answers_.ids(), "!queued");
  puppet.finish();  // the batch goes on; its request goes no further
  EXPECT_EQ(answers_.ids(), "!queued !running");
  EXPECT_EQ(puppet.running(), 0u);
  EXPECT_EQ(answers_.of("running").error->code, ErrorCode::kCancelled);
  const auto failures = ensemble->statistics().snapshot().failures;
  EXPECT_EQ(failures[static_cast<std::size_t>(FailureReason::kCanceled)], 2u);
}

// A token tells one listener; both sides of a diamond wait in queues.
TEST_F(EnsembleTest, CancellationReachesAllStepsUnderWay) {
  models_.add_echo("top");
  Puppet puppet;
  models_.add_puppet("left", puppet);
  models_.add_puppet("right", puppet);
  models_.add("join", two_inputs_config(), std::make_unique<EchoModel>(Execution::kInline));
  const auto ensemble = models_.add_ensemble(diamond_config());
  ask(ensemble, "first");
  EXPECT_EQ(puppet.running(), 2u);
  auto request = float_request("second");
  const auto token = std::make_shared<CancellationToken>();
  request->model = ensemble;
  request->cancellation = token;
  request->sink = answers_.sink("second");
  ensemble->infer(std::move(request));
  token->cancel();
  EXPECT_EQ(answers_.ids(), "!second");
  puppet.finish();
  puppet.finish();
  EXPECT_EQ(answers_.ids(), "!second first");
}

TEST_F(EnsembleTest, RefusesWhatIsMoreThanItsBound) {
  Puppet puppet;
  models_.add_puppet("first", puppet);
  config::ModelConfig config = chain_config("e", {"first"});
  config.ensemble->max_inflight_requests = 2;
  const auto ensemble = models_.add_ensemble(config);
  for (const char* id : {"a", "b", "c"}) ask(ensemble, id);
  EXPECT_EQ(answers_.ids(), "!c");
  EXPECT_EQ(answers_.of("c").error->code, ErrorCode::kUnavailable);
  EXPECT_THAT(error_of("c"), HasSubstr("has 2 requests under way"));
  puppet.finish();
  ask(ensemble, "d");
  puppet.finish();
  puppet.finish();
  EXPECT_EQ(answers_.ids(), "!c a b d");
}

// The answer of an older version must not go to a newer one with other inputs.
TEST_F(EnsembleTest, ARequestKeepsTheVersionsThatWereThereWhenItCame) {
  Puppet puppet;
  models_.add_puppet("first", puppet);
  models_.add_echo("second");
  const auto ensemble = models_.add_ensemble(chain_config("e", {"first", "second"}));
  ask(ensemble, "a");
  const std::weak_ptr<Model> old = models_.find("second");
  models_.add_echo("second", Execution::kInline, 2);
  ask(ensemble, "b");
  EXPECT_FALSE(old.expired());
  puppet.finish();
  puppet.finish();
  EXPECT_EQ(answers_.ids(), "a b");
  EXPECT_EQ(models_.find("second")->statistics().snapshot().success.count, 1u);
}

TEST_F(EnsembleTest, IsNotHealthyWithoutAStep) {
  models_.add_echo("first");
  models_.add_echo("second");
  const auto ensemble = models_.add_ensemble(chain_config("e", {"first", "second"}));
  EXPECT_TRUE(ensemble->health());
  models_.remove("second");
  EXPECT_THAT(ensemble->health().error().message,
              HasSubstr("ensemble 'e' depends on 'second' (step 1), which is not ready"));
  ask(ensemble, "a");
  EXPECT_EQ(answers_.of("a").error->code, ErrorCode::kUnavailable);
}

TEST_F(EnsembleTest, AnEnsembleMayBeAStep) {
  Puppet puppet;
  models_.add_echo("first");
  models_.add_puppet("second", puppet);
  models_.add_ensemble(chain_config("inner", {"second", "first"}));
  const auto outer = models_.add_ensemble(chain_config("outer", {"first", "inner", "first"}));
  ask(outer, "a", 1);
  // What the inner one needs is held by the request of the outer one.
  models_.remove("first");
  puppet.finish();
  ASSERT_EQ(answers_.ids(), "a");
  EXPECT_THAT(floats(answers_.of("a").outputs[0]), ElementsAre(1, 2));
  ask(outer, "b");
  EXPECT_EQ(answers_.ids(), "a !b");
}

// Echoes, and notes what the request says.
struct Noted {
  int depth = -1;
  std::uint64_t priority = 0;
  TimePoint deadline = kNever;
  bool sequence_end = false;
};

class NotingModel final : public LoadedModel {
 public:
  explicit NotingModel(Noted& noted) : noted_(noted) {}
  Execution execution() const override { return Execution::kInline; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<NotingInstance>(noted_);
  }

 private:
  class NotingInstance final : public Instance {
   public:
    explicit NotingInstance(Noted& noted) : noted_(noted) {}
    void start(std::unique_ptr<Batch> batch, Done done) override {
      const Request& request = *batch->requests()[0];
      noted_ = {request.depth, request.priority, request.deadline, request.sequence_end};
      echo_inputs(*batch);
      done(std::move(batch));
    }

   private:
    Noted& noted_;
  };

  Noted& noted_;
};

// Without the depth, a model that asks the ensemble it is a step of would never be stopped.
TEST_F(EnsembleTest, StepsAreToldWhatTheRequestSays) {
  Noted noted;
  models_.add_echo("first");
  models_.add("second", float_config(8), std::make_unique<NotingModel>(noted));
  const auto ensemble = models_.add_ensemble(chain_config("e", {"first", "second"}));
  const TimePoint deadline = steady_clock().now() + std::chrono::hours(1);
  auto request = float_request("a");
  request->model = ensemble;
  request->depth = 3;
  request->priority = 2;
  request->deadline = deadline;
  request->sequence_end = true;
  request->sink = answers_.sink("a");
  ensemble->infer(std::move(request));
  ASSERT_EQ(answers_.ids(), "a");
  EXPECT_EQ(noted.depth, 3);
  EXPECT_EQ(noted.priority, 2u);
  EXPECT_EQ(noted.deadline, deadline);
  EXPECT_TRUE(noted.sequence_end);
}

TEST_F(EnsembleTest, StatisticsAddUpThoseOfTheSteps) {
  models_.add_echo("first");
  models_.add_echo("second");
  const auto ensemble = models_.add_ensemble(chain_config("e", {"first", "second"}));
  auto request = float_request("a", 3, 2);
  request->model = ensemble;
  request->sink = answers_.sink("a");
  ensemble->infer(std::move(request));
  const StatisticsSnapshot whole = ensemble->statistics().snapshot();
  const StatisticsSnapshot first = models_.find("first")->statistics().snapshot();
  const StatisticsSnapshot second = models_.find("second")->statistics().snapshot();
  EXPECT_EQ(whole.success.count, 1u);
  EXPECT_EQ(whole.inference_count, 3u);
  EXPECT_EQ(whole.execution_count, 1u);
  EXPECT_EQ(whole.batch_sizes.count(3), 1u);
  EXPECT_EQ(whole.queue.ns, first.queue.ns + second.queue.ns);
  EXPECT_EQ(whole.compute_infer.ns, first.compute_infer.ns + second.compute_infer.ns);
  EXPECT_GE(whole.success.ns, first.success.ns + second.success.ns);
}

}  // namespace
}  // namespace proa::core
