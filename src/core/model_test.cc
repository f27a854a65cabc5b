#include "core/model.h"

#include <gtest/gtest.h>

#include "core/statistics.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"

namespace proa::core {
namespace {

std::shared_ptr<Model> echo_model(ModelRuntime& runtime, Execution execution) {
  auto made =
      Model::create(float_config(8), 3, std::make_unique<EchoModel>(execution), runtime.options());
  return made.value();
}

std::unique_ptr<Request> request_for(std::shared_ptr<Model> model, Answers& answers,
                                     std::string id) {
  auto request = float_request(id, 1, 2, 5);
  request->model = std::move(model);
  request->sink = answers.sink(std::move(id));
  return request;
}

TEST(ModelTest, InlineModelAnswersOnTheCallersThread) {
  Answers answers;
  ModelRuntime runtime;
  auto model = echo_model(runtime, Execution::kInline);
  model->infer(request_for(model, answers, "a"));
  ASSERT_EQ(answers.ids(), "a");
  EXPECT_EQ(floats(answers.of("a").outputs[0]), (std::vector<float>{5, 6}));
  EXPECT_EQ(model->in_flight(), 0u);
  EXPECT_EQ(model->statistics().snapshot().success.count, 1u);
  EXPECT_EQ(model->version_string(), "3");
}

TEST(ModelTest, ClientsSeeOutputsAsConfigured) {
  Answers answers;
  ModelRuntime runtime;
  auto config = float_config(8);
  config.outputs[0].dims = {1, 2, 1};
  config.outputs[0].reshape.emplace().push_back(2);
  auto model =
      Model::create(config, 1, std::make_unique<EchoModel>(Execution::kInline), runtime.options())
          .value();
  model->infer(request_for(model, answers, "a"));
  EXPECT_EQ(answers.of("a").outputs[0].shape, Shape({1, 1, 2, 1}));
}

TEST(ModelTest, BlockingModelAnswersFromItsThread) {
  Answers answers;
  ModelRuntime runtime;
  auto model = echo_model(runtime, Execution::kBlocking);
  for (int i = 0; i < 100; ++i) model->infer(request_for(model, answers, std::to_string(i)));
  answers.wait_for(100);
  EXPECT_EQ(answers.of("42").error, std::nullopt);
}

// The last reference to the model goes with the request, on the instance's own thread.
TEST(ModelTest, LastRequestMayOutliveTheRepository) {
  Answers answers;
  ModelRuntime runtime;
  for (int i = 0; i < 20; ++i) {
    auto model = echo_model(runtime, Execution::kBlocking);
    auto request = request_for(model, answers, std::to_string(i));
    Model& reference = *model;
    model.reset();
    reference.infer(std::move(request));
  }
  answers.wait_for(20);
}

TEST(ModelTest, ShutDownRefusesNewRequests) {
  Answers answers;
  ModelRuntime runtime;
  auto model = echo_model(runtime, Execution::kInline);
  model->shut_down();
  model->infer(request_for(model, answers, "a"));
  ASSERT_TRUE(answers.of("a").error);
  EXPECT_EQ(answers.of("a").error->code, ErrorCode::kUnavailable);
}

// Counts instances and where they were to run.
class CountingModel final : public LoadedModel {
 public:
  CountingModel(std::vector<std::string>& names, int useful) : names_(names), useful_(useful) {}
  Execution execution() const override { return Execution::kInline; }
  int useful_instances(int configured) const override { return std::min(configured, useful_); }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement& placement) override {
    if (placement.device == 9) return error::not_found("no GPU 9");
    names_.push_back(fmt::format("{}@{}", placement.name, placement.device));
    return std::make_unique<EchoInstance>();
  }

 private:
  std::vector<std::string>& names_;
  const int useful_;
};

TEST(ModelTest, CreatesInstancesOfAllGroups) {
  using Kind = config::InstanceGroup::Kind;
  ModelRuntime runtime;
  auto config = float_config(8);
  config.instance_groups = {{.kind = Kind::kCpu, .count = 2},
                            {.name = "g", .kind = Kind::kGpu, .count = 1, .gpus = {0, 1}}};
  std::vector<std::string> names;
  ASSERT_TRUE(
      Model::create(config, 1, std::make_unique<CountingModel>(names, 9), runtime.options()));
  EXPECT_EQ(names, (std::vector<std::string>{"echo_0_0@0", "echo_0_1@0", "g_0@0", "g_1@1"}));

  names.clear();
  ASSERT_TRUE(
      Model::create(config, 1, std::make_unique<CountingModel>(names, 1), runtime.options()));
  EXPECT_EQ(names, (std::vector<std::string>{"echo_0_0@0"}));
}

TEST(ModelTest, FailsWhenAnInstanceFails) {
  ModelRuntime runtime;
  auto config = float_config(8);
  config.instance_groups = {{.kind = config::InstanceGroup::Kind::kGpu, .count = 1, .gpus = {9}}};
  std::vector<std::string> names;
  auto made =
      Model::create(config, 1, std::make_unique<CountingModel>(names, 9), runtime.options());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace proa::core
