// Ensembles and their steps: the order of loads, and what follows when a step comes or goes.
#include <atomic>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lifecycle/testing/repository_fixture.h"

namespace proa::lifecycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Of models with input "x" and output "y", as the scripted backend completes them.
std::string chain(const std::vector<std::string>& steps, std::int64_t version = -1) {
  std::string text =
      "platform: 'ensemble' input { name: 'x' data_type: TYPE_FP32 dims: 2 } "
      "output { name: 'y' data_type: TYPE_FP32 dims: 2 } ensemble_scheduling { ";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string from = i == 0 ? "x" : fmt::format("t{}", i);
    const std::string to = i + 1 == steps.size() ? "y" : fmt::format("t{}", i + 1);
    text += fmt::format(
        "step {{ model_name: '{}' model_version: {} input_map {{ key: 'x' value: '{}' }} "
        "output_map {{ key: 'y' value: '{}' }} }} ",
        steps[i], version, from, to);
  }
  return text + "}";
}

class EnsembleLoadsTest : public ModelRepositoryTest {
 protected:
  std::unique_ptr<ModelRepository> start(ControlMode mode, std::vector<std::string> startup = {}) {
    auto options = this->options();
    options.mode = mode;
    options.startup_models = std::move(startup);
    auto repository = std::make_unique<ModelRepository>(std::move(options));
    EXPECT_TRUE(repository->start());
    EXPECT_TRUE(repository->wait_until_loaded(kNever));
    return repository;
  }

  // The answer that the ensemble gives to a request of 2 values without batch dimension.
  core::Response ask(const ModelRepository& repository, const std::string& name) {
    const auto model = repository.find(name, "");
    if (!model) return {.error = model.error()};
    auto request = std::make_unique<core::Request>();
    request->inputs.push_back(core::float_tensor({2}, 5));
    request->model = *model;
    const std::string id = std::to_string(++asked_);
    request->sink = answers_.sink(id);
    (*model)->infer(std::move(request));
    answers_.wait_for(static_cast<std::size_t>(asked_));
    return answers_.of(id);
  }

  int asked_ = 0;
};

TEST_F(EnsembleLoadsTest, AnEnsembleIsLoadedAfterItsSteps) {
  add_model("a_chain", chain({"slow", "z"}));
  add_model("slow");
  add_model("z");
  backend_.hold("slow");
  ModelRepository repository(options());
  ASSERT_TRUE(repository.start());
  backend_.wait_for_load("slow");
  EXPECT_THAT(repository.find("a_chain", "").error().message, HasSubstr("being loaded"));
  backend_.release("slow");
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_TRUE(repository.model_ready("a_chain", "1"));
  EXPECT_EQ((*repository.find("a_chain", ""))->config().platform, "ensemble");
  EXPECT_THAT(core::floats(ask(repository, "a_chain").outputs[0]), ElementsAre(5, 6));
}

// More ensembles than load threads wait for one step.
TEST_F(EnsembleLoadsTest, WaitingEnsemblesHoldNoThread) {
  for (int i = 0; i < 12; ++i) add_model(fmt::format("e{}", i), chain({"step"}));
  add_model("step");
  backend_.hold("step");
  ModelRepository repository(options());
  ASSERT_TRUE(repository.start());
  backend_.wait_for_load("step");
  backend_.release("step");
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_EQ(repository.ready_models().size(), 13u);
}

TEST_F(EnsembleLoadsTest, AStepThatIsNotThereFailsTheEnsembleOnly) {
  add_model("chain", chain({"good", "bad"}));
  add_model("wrong_version", chain({"good"}, 7));
  add_model("good");
  add_model("bad", "backend: 'scripted' parameters { key: 'fail' value { string_value: 'ill' } }");
  const auto repository = start(ControlMode::kNone);
  const Error error = repository->find("chain", "").error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("ensemble 'chain' depends on 'bad' (step 1), which is not"));
  EXPECT_THAT(error.message, HasSubstr("ill"));
  EXPECT_THAT(repository->find("wrong_version", "").error().message,
              HasSubstr("'good' version 7 is not found"));
  EXPECT_TRUE(repository->model_ready("good", ""));
}

TEST_F(EnsembleLoadsTest, StepsThatDoNotFitAreNamed) {
  add_model("chain", chain({"good", "other"}));
  add_model("good");
  add_model("other", "backend: 'scripted' input { name: 'x' data_type: TYPE_INT32 dims: 2 }");
  const auto repository = start(ControlMode::kNone);
  EXPECT_THAT(
      repository->find("chain", "").error().message,
      HasSubstr("inconsistent data type of tensor 't1': output 'y' of model 'good' (step 0) "
                "has FP32 and input 'x' of model 'other' (step 1) has INT32"));
}

TEST_F(EnsembleLoadsTest, CirclesOfEnsemblesAreRefused) {
  add_model("itself", chain({"itself"}));
  add_model("one", chain({"two"}));
  add_model("two", chain({"one"}));
  const auto repository = start(ControlMode::kNone);
  EXPECT_THAT(repository->find("itself", "").error().message,
              HasSubstr("is a step of itself: itself -> itself"));
  EXPECT_THAT(repository->find("one", "").error().message, HasSubstr("one -> two -> one"));
  EXPECT_THAT(repository->find("two", "").error().message, HasSubstr("two -> one -> two"));
}

TEST_F(EnsembleLoadsTest, AnEnsembleGoesAndComesWithItsStep) {
  add_model("outer", chain({"chain"}));
  add_model("chain", chain({"step"}));
  add_model("step");
  const auto repository = start(ControlMode::kExplicit, {"*"});
  const auto before = *repository->find("chain", "");
  ASSERT_TRUE(repository->unload("step"));
  wait_for(*repository, {"chain/1 UNAVAILABLE", "outer/1 UNAVAILABLE", "step/1 UNAVAILABLE"});
  for (const char* name : {"chain", "outer"}) {
    const Error error = repository->find(name, "").error();
    EXPECT_EQ(error.code, ErrorCode::kUnavailable) << name;
    EXPECT_THAT(error.message, HasSubstr("'step' (step 0), which is not ready")) << name;
    EXPECT_FALSE(repository->model_ready(name, "1")) << name;
  }
  ASSERT_TRUE(load(*repository, "step"));
  wait_for(*repository, {"chain/1 READY", "outer/1 READY", "step/1 READY"});
  EXPECT_EQ(*repository->find("chain", ""), before);
  EXPECT_THAT(core::floats(ask(*repository, "outer").outputs[0]), ElementsAre(5, 6));
}

TEST_F(EnsembleLoadsTest, AnEnsembleThatFailedIsLoadedWhenItsStepIsThere) {
  add_model("chain", chain({"step"}));
  add_model("step", "backend: 'scripted' parameters { key: 'fail' value { string_value: 'ill' } }");
  const auto repository = start(ControlMode::kNone);
  EXPECT_FALSE(repository->find("chain", ""));
  temp_.write("repo/step/config.pbtxt", kConfig);
  ASSERT_TRUE(load(*repository, "step"));
  // Loading the ensemble goes on behind the answer; this comes after it.
  (void)load(*repository, "chain");
  EXPECT_TRUE(repository->model_ready("chain", ""));
}

TEST_F(EnsembleLoadsTest, AStepWithAnotherSignatureHoldsTheEnsembleBack) {
  add_model("chain", chain({"step"}));
  add_model("step");
  const auto repository = start(ControlMode::kExplicit, {"*"});
  temp_.write("repo/step/config.pbtxt",
              "backend: 'scripted' input { name: 'x' data_type: TYPE_FP32 dims: 3 }");
  ASSERT_TRUE(load(*repository, "step"));
  wait_for(*repository, {"chain/1 UNAVAILABLE", "step/1 READY"});
  EXPECT_THAT(repository->find("chain", "").error().message,
              HasSubstr("inconsistent shape of tensor 'x'"));
  temp_.write("repo/step/config.pbtxt", kConfig);
  ASSERT_TRUE(load(*repository, "step"));
  wait_for(*repository, {"chain/1 READY", "step/1 READY"});
}

TEST_F(EnsembleLoadsTest, AnUpdateThatDidNotFitTheOldStepIsLoadedWithTheNewOne) {
  add_model("chain", chain({"step"}));
  add_model("step");
  const auto repository = start(ControlMode::kExplicit, {"*"});
  std::string three = chain({"step"});
  for (std::size_t at = 0; (at = three.find("dims: 2", at)) != std::string::npos;)
    three[at + 6] = '3';
  temp_.write("repo/chain/config.pbtxt", three);
  EXPECT_FALSE(load(*repository, "chain"));
  EXPECT_TRUE(repository->model_ready("chain", ""));  // the old one serves on
  temp_.write("repo/step/config.pbtxt",
              "backend: 'scripted' input { name: 'x' data_type: TYPE_FP32 dims: 3 } "
              "output { name: 'y' data_type: TYPE_FP32 dims: 3 }");
  ASSERT_TRUE(load(*repository, "step"));
  wait_for(*repository, {"chain/1 READY", "step/1 READY"});
  EXPECT_EQ((*repository->find("chain", ""))->config().inputs[0].dims, (Shape{3}));
}

TEST_F(EnsembleLoadsTest, ExplicitModeLoadsWhatAnEnsembleNeeds) {
  add_model("outer", chain({"chain", "asked"}));
  add_model("chain", chain({"step"}));
  add_model("asked");
  add_model("step");
  const auto repository = start(ControlMode::kExplicit);
  ASSERT_TRUE(load(*repository, "asked"));
  ASSERT_TRUE(load(*repository, "outer"));
  EXPECT_THAT(states(*repository),
              ElementsAre("asked/1 READY", "chain/1 READY", "outer/1 READY", "step/1 READY"));
  EXPECT_EQ(backend_.loads("asked"), 1);

  ASSERT_TRUE(repository->unload("outer"));
  wait_for(*repository, {"asked/1 READY", "chain/1 READY", "outer/1 UNAVAILABLE", "step/1 READY"});
  // What was loaded for it alone goes with it, what was asked for stays.
  ASSERT_TRUE(load(*repository, "outer"));
  ASSERT_TRUE(repository->unload("outer", true));
  wait_for(*repository,
           {"asked/1 READY", "chain/1 UNAVAILABLE", "outer/1 UNAVAILABLE", "step/1 UNAVAILABLE"});
  ASSERT_TRUE(load(*repository, "outer"));
  EXPECT_THAT(core::floats(ask(*repository, "outer").outputs[0]), ElementsAre(5, 6));
}

TEST_F(EnsembleLoadsTest, ALoadThatFindsNoStepSaysSo) {
  add_model("chain", chain({"nobody"}));
  const auto repository = start(ControlMode::kExplicit);
  const Status status = load(*repository, "chain");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("load failed for model 'chain'"));
  EXPECT_THAT(status.error().message, HasSubstr("'nobody'"));
}

// Wherever the load is just then: on its way to its thread, with its steps, or waiting for them.
TEST_F(EnsembleLoadsTest, AWaitingLoadEndsWhenItsEnsembleIsUnloaded) {
  add_model("chain", chain({"step"}));
  add_model("step");
  backend_.hold("step");
  const auto repository = start(ControlMode::kExplicit);
  std::future_status waited = std::future_status::ready;
  for (int i = 0; i < 300 && waited == std::future_status::ready; ++i) {
    auto ended = std::make_shared<std::promise<Status>>();
    auto future = ended->get_future();
    repository->load("chain", {}, [ended](Status status) { ended->set_value(std::move(status)); });
    for (int spin = 0; spin < i; ++spin) std::this_thread::yield();
    EXPECT_TRUE(repository->unload("chain"));
    waited = future.wait_for(std::chrono::seconds(20));
    if (waited != std::future_status::ready) continue;
    EXPECT_THAT(future.get().error().message, HasSubstr("unloaded before its steps were ready"));
  }
  EXPECT_EQ(waited, std::future_status::ready) << "the load came after the unload";
  backend_.release("step");
  ASSERT_TRUE(load(*repository, "step"));
  EXPECT_FALSE(repository->find("chain", ""));
}

TEST_F(EnsembleLoadsTest, AGivenUpLoadLoadsNoSteps) {
  add_model("chain", chain({"step"}));
  for (const char* name : {"step", "busy", "last"}) add_model(name);
  auto options = this->options();
  options.mode = ControlMode::kExplicit;
  options.load_threads = 1;
  ModelRepository repository(std::move(options));
  ASSERT_TRUE(repository.start());
  backend_.hold("busy");
  repository.load("busy", {}, [](const Status&) {});
  backend_.wait_for_load("busy");
  std::promise<Status> ended;
  repository.load("chain", {}, [&](Status status) { ended.set_value(std::move(status)); });
  ASSERT_TRUE(repository.unload("chain"));
  backend_.release("busy");
  EXPECT_THAT(ended.get_future().get().error().message, HasSubstr("unloaded before its steps"));
  ASSERT_TRUE(load(repository, "last"));  // behind whatever the ensemble asked for
  EXPECT_EQ(backend_.loads("step"), 0);
}

TEST_F(EnsembleLoadsTest, AStartThatAClientGivesUpIsNoFailure) {
  add_model("chain", chain({"step"}));
  add_model("step");
  backend_.hold("step");
  std::promise<LoadSummary> told;
  auto options = this->options();
  options.mode = ControlMode::kExplicit;
  options.startup_models = {"chain"};
  options.on_loaded = [&](const LoadSummary& end) { told.set_value(end); };
  ModelRepository repository(std::move(options));
  ASSERT_TRUE(repository.start());
  backend_.wait_for_load("step");
  ASSERT_TRUE(repository.unload("chain"));
  const LoadSummary summary = told.get_future().get();
  backend_.release("step");
  EXPECT_EQ(summary.ready, 0u);
  EXPECT_THAT(summary.failed, testing::IsEmpty());
}

TEST_F(EnsembleLoadsTest, AStepThatIsUnwellDoesNotHoldItsEnsembleBack) {
  add_model("chain", chain({"unwell", "other"}));
  add_model("unwell", "backend: 'scripted' parameters { key: 'lost' value { string_value: '' } }");
  add_model("other");
  const auto repository = start(ControlMode::kExplicit, {"*"});
  temp_.write("repo/other/labels.txt", "new");
  ASSERT_TRUE(load(*repository, "other"));  // ensembles are told before it answers
  EXPECT_TRUE(repository->find("chain", ""));
  EXPECT_THAT(repository->model_ready("chain", "").error().message, HasSubstr("device is gone"));
}

TEST_F(EnsembleLoadsTest, AStepThatWasAskedForLastStaysWhenItsEnsembleGoes) {
  add_model("chain", chain({"step"}));
  add_model("step");
  const auto repository = start(ControlMode::kExplicit, {});
  backend_.hold("step");
  repository->load("step", {}, [](const Status&) {});
  backend_.wait_for_load("step");
  ASSERT_TRUE(repository->unload("step"));
  std::promise<Status> again;
  repository->load("step", {}, [&](Status status) { again.set_value(std::move(status)); });
  backend_.release("step");
  ASSERT_TRUE(again.get_future().get());
  ASSERT_TRUE(load(*repository, "chain"));
  ASSERT_TRUE(repository->unload("chain", true));
  wait_for(*repository, {"chain/1 UNAVAILABLE", "step/1 READY"});
}

TEST_F(EnsembleLoadsTest, WhatComesAfterAWaitingLoadDecides) {
  add_model("chain", chain({"step"}));
  add_model("step");
  backend_.hold("step");
  const auto repository = start(ControlMode::kExplicit);
  std::vector<std::string> ends;
  std::promise<void> last;
  repository->load("chain", {}, [&](const Status& status) { ends.push_back(status ? "1" : "1!"); });
  backend_.wait_for_load("step");
  LoadRequest no_ensemble{.config_json = R"({"backend": "scripted", "max_batch_size": 3})"};
  repository->load("chain", no_ensemble, [&](const Status& status) {
    ends.push_back(status ? "2" : "2!");
    last.set_value();
  });
  backend_.release("step");
  last.get_future().wait();
  (void)load(*repository, "step");  // the last thing that could bring the first one back
  EXPECT_THAT(ends, ElementsAre("1", "2"));
  EXPECT_EQ((*repository->find("chain", ""))->config().max_batch_size, 3);
}

// Readiness does not wait for it.
TEST_F(EnsembleLoadsTest, AStepThatGoesIsNoticedWhileALoadWaits) {
  add_model("chain", chain({"one", "two"}));
  for (const char* name : {"one", "two", "other"}) add_model(name);
  auto options = this->options();
  options.mode = ControlMode::kExplicit;
  options.startup_models = {"chain"};
  options.load_threads = 2;
  auto repository = std::make_unique<ModelRepository>(std::move(options));
  ASSERT_TRUE(repository->start());
  ASSERT_TRUE(repository->wait_until_loaded(kNever));
  temp_.write("repo/one/labels.txt", "new");
  temp_.write("repo/chain/labels.txt", "new");
  backend_.hold("one");
  std::promise<Status> step, ended;
  repository->load("one", {}, [&](Status status) { step.set_value(std::move(status)); });
  repository->load("chain", {}, [&](Status status) { ended.set_value(std::move(status)); });
  // "one" has a thread; behind "chain" on the other: by then "chain" waits.
  ASSERT_TRUE(load(*repository, "other"));
  ASSERT_TRUE(repository->unload("two"));
  wait_for(*repository,
           {"chain/1 UNAVAILABLE", "one/1 READY", "other/1 READY", "two/1 UNAVAILABLE"});
  ASSERT_TRUE(load(*repository, "two"));
  wait_for(*repository, {"chain/1 READY", "one/1 READY", "other/1 READY", "two/1 READY"});
  backend_.release("one");
  EXPECT_TRUE(step.get_future().get());
  EXPECT_TRUE(ended.get_future().get());
}

TEST_F(EnsembleLoadsTest, AWaitingLoadEndsWithTheServer) {
  add_model("chain", chain({"step"}));
  add_model("step");
  backend_.hold("step");
  auto repository = std::make_unique<ModelRepository>(options());
  ASSERT_TRUE(repository->start());
  backend_.wait_for_load("step");
  repository->shut_down(kNever);
  backend_.release("step");
  repository.reset();
}

TEST_F(EnsembleLoadsTest, RequestsGoOnWhileStepsAreReplaced) {
  add_model("chain", chain({"step", "step"}));
  add_model("step");
  const auto repository = start(ControlMode::kExplicit, {"*"});
  std::atomic<bool> stop = false;
  std::thread reloads([&] {
    for (int i = 0; i < 30; ++i) {
      temp_.write("repo/step/labels.txt", std::to_string(i));
      ASSERT_TRUE(load(*repository, "step"));
    }
    stop = true;
  });
  std::vector<std::string> failures;
  int asked = 0;
  for (; !stop; ++asked) {
    const core::Response answer = ask(*repository, "chain");
    if (answer.error) failures.push_back(answer.error->message);
  }
  reloads.join();
  EXPECT_THAT(failures, testing::IsEmpty());
  EXPECT_GT(asked, 0);
  EXPECT_GE(backend_.loads("step"), 30);
}

}  // namespace
}  // namespace proa::lifecycle
