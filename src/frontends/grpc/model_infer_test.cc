#include <string>
#include <thread>

#include "frontends/testing/grpc_messages.h"
#include "frontends/testing/test_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using ::testing::HasSubstr;

struct ModelInferTest : ::testing::Test {
  TestServer server;

  std::unique_ptr<ExchangeDriver> infer(const ModelInferRequest& request,
                                        TestServer::Headers headers = {}) {
    return server.grpc_unary("ModelInfer", request.SerializeAsString(), std::move(headers));
  }
  static ModelInferResponse answer(const ExchangeDriver& call) {
    EXPECT_EQ(call.trailer("grpc-status"), "0") << call.trailer("grpc-message").value_or("");
    const auto messages = answers<ModelInferResponse>(call);
    EXPECT_EQ(messages.size(), 1u);
    return messages.empty() ? ModelInferResponse() : messages[0];
  }
};

TEST_F(ModelInferTest, AnswersRawTensors) {
  const auto call = infer(float_request("echo", "r1", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(call->header("content-type"), "application/grpc");
  const ModelInferResponse response = answer(*call);
  EXPECT_EQ(response.model_name(), "echo");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "r1");
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(response.outputs(0).name(), "OUTPUT0");
  EXPECT_EQ(response.outputs(0).datatype(), "FP32");
  EXPECT_THAT(response.outputs(0).shape(), ::testing::ElementsAre(2, 4));
  EXPECT_EQ(response.raw_output_contents(0), float_bytes({1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(ModelInferTest, TakesTypedContents) {
  ModelInferRequest request = float_request("echo", "", {1, 4}, {});
  request.clear_raw_input_contents();
  for (const float value : {1.f, 2.f, 3.f, 4.f}) {
    request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(value);
  }
  EXPECT_EQ(answer(*infer(request)).raw_output_contents(0), float_bytes({1, 2, 3, 4}));
}

TEST_F(ModelInferTest, GivesOnlyTheOutputsAskedForInTheirOrder) {
  ModelInferRequest request;
  request.set_model_name("typed");
  const auto add = [&](const char* name, const char* type, std::string bytes) {
    auto& input = *request.add_inputs();
    input.set_name(name);
    input.set_datatype(type);
    input.add_shape(1);
    request.add_raw_input_contents(std::move(bytes));
  };
  add("INPUT3", "FP16", std::string("\x12\x34", 2));
  add("INPUT0", "BYTES", std::string("\2\0\0\0hi", 6));
  add("INPUT1", "INT64", std::string("\7\0\0\0\0\0\0\0", 8));
  add("INPUT2", "BOOL", std::string("\1", 1));
  request.add_outputs()->set_name("OUTPUT1");
  request.add_outputs()->set_name("OUTPUT0");
  const ModelInferResponse response = answer(*infer(request));
  ASSERT_EQ(response.outputs_size(), 2);
  EXPECT_EQ(response.outputs(0).name(), "OUTPUT1");
  EXPECT_EQ(response.raw_output_contents(1), std::string("\2\0\0\0hi", 6));
}

TEST_F(ModelInferTest, ClassifiesWithLabels) {
  ModelInferRequest request = float_request("echo", "", {1, 4}, {1, 9, 3, 4});
  auto& output = *request.add_outputs();
  output.set_name("OUTPUT0");
  (*output.mutable_parameters())["classification"].set_int64_param(1);
  const ModelInferResponse response = answer(*infer(request));
  EXPECT_EQ(response.outputs(0).datatype(), "BYTES");
  EXPECT_THAT(response.raw_output_contents(0), HasSubstr("9.000000:1:b"));
}

TEST_F(ModelInferTest, FailsWithStatusAndSentence) {
  const auto unknown = infer(float_request("nope", "", {1, 4}, {1, 2, 3, 4}));
  EXPECT_EQ(unknown->trailer("grpc-status"), "5");
  EXPECT_EQ(unknown->trailer("grpc-message"), "Request for unknown model: 'nope' is not found");
  const auto shape = infer(float_request("echo", "", {1, 5}, {1, 2, 3, 4, 5}));
  EXPECT_EQ(shape->trailer("grpc-status"), "3");
  EXPECT_THAT(*shape->trailer("grpc-message"), HasSubstr("unexpected shape for input 'INPUT0'"));
  const auto decoupled = infer(float_request("repeat", "", {1}, {1}));
  EXPECT_EQ(decoupled->trailer("grpc-status"), "12");
  const auto garbage = server.grpc_unary("ModelInfer", "\xff\xff");
  EXPECT_EQ(garbage->trailer("grpc-status"), "3");
}

TEST_F(ModelInferTest, AnswersWhenAnotherThreadHasFinished) {
  const auto call = infer(float_request("puppet", "", {1, 4}, {1, 2, 3, 4}));
  EXPECT_FALSE(call->exchange.ended);
  std::thread([&] { server.puppet.finish(); }).join();
  EXPECT_FALSE(call->exchange.ended);
  server.poll();
  EXPECT_EQ(answer(*call).raw_output_contents(0), float_bytes({1, 2, 3, 4}));
  call->close(net::CloseReason::kFinished);
  EXPECT_EQ(server.budget.used(), 0u);
}

TEST_F(ModelInferTest, ACallThatIsCancelledLetsGoOfItsRequest) {
  const auto call = infer(float_request("puppet", "", {1, 4}, {1, 2, 3, 4}));
  call->close(net::CloseReason::kClientReset);
  std::thread([&] { server.puppet.finish(); }).join();
  server.poll();
  EXPECT_EQ(server.budget.used(), 0u);
}

TEST_F(ModelInferTest, CountsTheAnswerUntilTheClientHasTakenIt) {
  const auto call = infer(float_request("echo", "", {1, 4}, {1, 2, 3, 4}));
  EXPECT_EQ(server.budget.used(), 16u);
  call->close(net::CloseReason::kFinished);
  EXPECT_EQ(server.budget.used(), 0u);
}

}  // namespace
}  // namespace proa::frontends
