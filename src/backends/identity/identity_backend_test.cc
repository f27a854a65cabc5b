#include "backends/identity/identity_backend.h"

#include <cstring>
#include <functional>

#include "base/testing/manual_timer.h"
#include "core/testing/model_runtime.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tensor/bytes_tensor.h"

namespace proa::backends {
namespace {

using config::ModelConfig;
using core::Batch;
using testing::ElementsAre;
using testing::HasSubstr;

class IdentityBackendTest : public testing::Test {
 protected:
  ModelConfig config_with(std::map<std::string, std::string> parameters) {
    ModelConfig config = core::float_config(8);
    config.parameters = std::move(parameters);
    return config;
  }

  std::unique_ptr<core::LoadedModel> load(const ModelConfig& config) {
    auto loaded = backend_->load({}, config);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return *std::move(loaded);
  }

  // Runs one batch of these requests to its end and gives its responses.
  static std::vector<core::Response> run(core::Instance& instance,
                                         std::vector<std::unique_ptr<core::Request>> requests) {
    std::unique_ptr<Batch> ended;
    instance.start(std::make_unique<Batch>(std::move(requests)),
                   [&](std::unique_ptr<Batch> batch) { ended = std::move(batch); });
    EXPECT_NE(ended, nullptr);
    EXPECT_NE(ended->inputs_ready, kNever);
    EXPECT_GE(ended->computed, ended->inputs_ready);
    return ended->take_responses();
  }

  static std::vector<std::unique_ptr<core::Request>> requests_of(
      std::unique_ptr<core::Request> first, std::unique_ptr<core::Request> second = nullptr) {
    std::vector<std::unique_ptr<core::Request>> requests;
    requests.push_back(std::move(first));
    if (second != nullptr) requests.push_back(std::move(second));
    return requests;
  }

  ManualClock clock_;
  ManualTimer timer_{clock_};
  std::unique_ptr<core::Backend> backend_ = make_identity_backend(&clock_, &timer_);
};

TEST_F(IdentityBackendTest, RepeatsTheInputsOfABatchInOrder) {
  const auto model = load(config_with({}));
  EXPECT_EQ(model->execution(), core::Execution::kInline);
  const auto instance = *model->create_instance({});
  const auto responses = run(*instance, requests_of(core::float_request("a", 2, 2, 10),
                                                    core::float_request("b", 1, 2, 50)));
  EXPECT_THAT(core::floats(responses[0].outputs[0]), ElementsAre(10, 11, 12, 13));
  EXPECT_EQ(responses[0].outputs[0].shape, Shape({2, 2}));
  EXPECT_THAT(core::floats(responses[1].outputs[0]), ElementsAre(50, 51));
}

TEST_F(IdentityBackendTest, CopiesUnlessZeroCopyIsAskedFor) {
  for (const bool zero_copy : {false, true}) {
    const auto model = load(config_with({{"zero_copy", zero_copy ? "true" : "false"}}));
    const auto instance = *model->create_instance({});
    auto request = core::float_request("a");
    const std::byte* input = request->inputs[0].data.data();
    const auto responses = run(*instance, requests_of(std::move(request)));
    EXPECT_EQ(responses[0].outputs[0].data.data() == input, zero_copy);
  }
}

TEST_F(IdentityBackendTest, RepeatsTheParametersOfEachRequestWhenAskedTo) {
  const auto model = load(config_with({{"echo_parameters", "true"}}));
  const auto instance = *model->create_instance({});
  auto first = core::float_request("a", 1, 2, 10);
  first->parameters = {{"x-user", std::string("ann")}};
  const auto responses =
      run(*instance, requests_of(std::move(first), core::float_request("b", 1, 2, 50)));
  ASSERT_EQ(responses[0].parameters.size(), 1u);
  EXPECT_EQ(responses[0].parameters[0].name, "x-user");
  EXPECT_TRUE(responses[1].parameters.empty());
  EXPECT_THAT(core::floats(responses[1].outputs[0]), ElementsAre(50, 51));
}

TEST_F(IdentityBackendTest, RepeatsBytesAndLeavesOutAbsentOptionalInputs) {
  ModelConfig config;
  config.max_batch_size = 4;
  config.inputs = {{.name = "INPUT0", .type = DataType::kFp32, .dims = {1}, .optional = true},
                   {.name = "INPUT1", .type = DataType::kBytes, .dims = {-1}}};
  ASSERT_TRUE(backend_->complete_config({}, true, config));
  const auto model = load(config);
  const auto instance = *model->create_instance({});
  const auto text_request = [](std::string_view text) {
    std::string elements;
    append_bytes_element(elements, text);
    Buffer buffer = Buffer::allocate(elements.size());
    std::memcpy(buffer.data(), elements.data(), elements.size());
    auto request = std::make_unique<core::Request>();
    request->inputs = {Tensor{}, Tensor{DataType::kBytes, {1, 1}, BufferView(buffer)}};
    return request;
  };
  const auto responses = run(*instance, requests_of(text_request("long text"), text_request("")));
  EXPECT_EQ(responses[0].outputs[0].type, DataType::kInvalid);
  EXPECT_THAT(*read_bytes_elements(responses[0].outputs[1].data.bytes(), 1),
              ElementsAre("long text"));
  EXPECT_THAT(*read_bytes_elements(responses[1].outputs[1].data.bytes(), 1), ElementsAre(""));
}

TEST_F(IdentityBackendTest, DelaysByTheTimer) {
  const auto model = load(config_with({{"execute_delay_ms", "5"}}));
  EXPECT_EQ(model->execution(), core::Execution::kAsync);
  const auto instance = *model->create_instance({});
  bool ended = false;
  instance->start(std::make_unique<Batch>(requests_of(core::float_request("a"))),
                  [&](std::unique_ptr<Batch>) { ended = true; });
  timer_.advance(std::chrono::milliseconds(4));
  EXPECT_FALSE(ended);
  timer_.advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(ended);
}

TEST_F(IdentityBackendTest, BlocksItsThreadWhenAskedTo) {
  const auto model = load(config_with({{"blocking", "true"}, {"execute_delay_ms", "1"}}));
  EXPECT_EQ(model->execution(), core::Execution::kBlocking);
  const auto instance = *model->create_instance({});
  const TimePoint begin = steady_clock().now();
  run(*instance, requests_of(core::float_request("a")));
  EXPECT_GE(steady_clock().now() - begin, std::chrono::milliseconds(1));
}

TEST_F(IdentityBackendTest, FailsAlwaysOrEveryNthBatchOfTheModel) {
  const auto failures = [&](std::map<std::string, std::string> parameters) {
    const auto model = load(config_with(std::move(parameters)));
    const auto first = *model->create_instance({});
    const auto second = *model->create_instance({});
    std::string pattern;
    for (int i = 0; i < 6; ++i) {
      const auto responses =
          run(i % 2 == 0 ? *first : *second, requests_of(core::float_request("a")));
      pattern += responses[0].error ? 'x' : '.';
    }
    return pattern;
  };
  EXPECT_EQ(failures({}), "......");
  EXPECT_EQ(failures({{"fail", "no"}}), "xxxxxx");
  EXPECT_EQ(failures({{"fail_every", "3"}}), "..x..x");
  EXPECT_EQ(failures({{"fail_every", "0"}}), "......");
}

TEST_F(IdentityBackendTest, FailsWithTheMessageGiven) {
  const auto model = load(config_with({{"fail", "out of luck"}}));
  const auto instance = *model->create_instance({});
  const auto responses = run(*instance, requests_of(core::float_request("a")));
  EXPECT_EQ(responses[0].error->to_string(), "INTERNAL: out of luck");
}

TEST_F(IdentityBackendTest, NamesTheOutputsThatAreLeftOpen) {
  ModelConfig config = core::float_config(0);
  config.inputs.push_back({.name = "second", .type = DataType::kInt8, .dims = {-1, 3}});
  config.outputs.clear();
  ASSERT_TRUE(backend_->complete_config({}, false, config));
  ASSERT_EQ(config.outputs.size(), 2u);
  EXPECT_EQ(config.outputs[1].name, "OUTPUT1");
  EXPECT_EQ(config.outputs[1].type, DataType::kInt8);
  EXPECT_EQ(config.outputs[1].dims, Shape({-1, 3}));
  EXPECT_EQ(config.max_batch_size, 0);
}

TEST_F(IdentityBackendTest, RefusesSignaturesThatItCannotRepeat) {
  const auto error_of = [&](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = core::float_config(8);
    change(config);
    const Status status = backend_->complete_config({}, true, config);
    return status ? std::string("accepted") : status.error().message;
  };
  EXPECT_EQ(error_of([](ModelConfig&) {}), "accepted");
  EXPECT_EQ(error_of([](ModelConfig& config) { config.outputs[0].dims = {-1}; }), "accepted");
  EXPECT_THAT(error_of([](ModelConfig& config) { config.inputs.clear(); }),
              HasSubstr("list them in config.pbtxt"));
  EXPECT_THAT(error_of([](ModelConfig& config) { config.outputs[0].type = DataType::kInt8; }),
              HasSubstr("output 'OUTPUT0' has type INT8, but input 'INPUT0'"));
  EXPECT_THAT(error_of([](ModelConfig& config) { config.outputs[0].dims = {3}; }),
              HasSubstr("has dims [3], but input 'INPUT0', which it repeats, has [2]"));
  EXPECT_THAT(error_of([](ModelConfig& config) { config.outputs.push_back(config.outputs[0]); }),
              HasSubstr("2 outputs and 1 inputs"));
}

TEST_F(IdentityBackendTest, RefusesParametersThatMakeNoSense) {
  const auto error_of = [&](const char* name, const char* value) {
    auto loaded = backend_->load({}, config_with({{name, value}}));
    return loaded ? std::string("accepted") : loaded.error().message;
  };
  EXPECT_EQ(error_of("execute_delay_ms", "abc"),
            "model 'echo': parameter 'execute_delay_ms' is \"abc\"; it must be a whole number from "
            "0 to 3600000");
  EXPECT_THAT(error_of("execute_delay_ms", "-1"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("execute_delay_ms", "99999999999999999999"), HasSubstr("whole number"));
  EXPECT_THAT(error_of("blocking", "yes"), HasSubstr("must be \"true\" or \"false\""));
  EXPECT_EQ(error_of("something_else", "x"), "accepted");
}

TEST(IdentityModelTest, RunsBehindAScheduler) {
  core::Answers answers;
  core::ModelRuntime runtime;
  const auto backend = make_identity_backend(&steady_clock(), runtime.options().timer);
  for (const char* blocking : {"false", "true"}) {
    ModelConfig config = core::float_config(8);
    config.parameters = {{"blocking", blocking}, {"execute_delay_ms", "1"}};
    const auto model =
        core::Model::create(config, 1, *backend->load({}, config), runtime.options());
    ASSERT_TRUE(model);
    auto request = core::float_request(blocking, 1, 2, 7);
    request->model = *model;
    request->sink = answers.sink(blocking);
    (*model)->infer(std::move(request));
  }
  answers.wait_for(2);
  EXPECT_THAT(core::floats(answers.of("true").outputs[0]), ElementsAre(7, 8));
  EXPECT_THAT(core::floats(answers.of("false").outputs[0]), ElementsAre(7, 8));
}

}  // namespace
}  // namespace proa::backends
