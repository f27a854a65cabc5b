#include "frontends/grpc/stream_infer_call.h"

#include <string>
#include <thread>
#include <vector>

#include "frontends/testing/grpc_messages.h"
#include "frontends/testing/test_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using inference::ModelInferRequest;
using inference::ModelStreamInferResponse;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string row(const std::string& model, const std::string& id) {
  return grpc_frame(float_request(model, id, {1, 4}, {1, 2, 3, 4}).SerializeAsString());
}

std::string repeat(const std::string& id, float times, bool empty_final = false) {
  ModelInferRequest request = float_request("repeat", id, {1}, {times});
  if (empty_final) {
    (*request.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
  }
  return grpc_frame(request.SerializeAsString());
}

// "id" of every answer in order, with "!" for errors and "." behind those that say they are final.
std::vector<std::string> told(const ExchangeDriver& call) {
  std::vector<std::string> all;
  for (const auto& message : answers<ModelStreamInferResponse>(call)) {
    const auto& response = message.infer_response();
    const auto parameter = response.parameters().find("triton_final_response");
    const bool final = parameter != response.parameters().end() && parameter->second.bool_param();
    all.push_back((message.error_message().empty() ? "" : "!") + response.id() +
                  (final ? "." : ""));
  }
  return all;
}

struct StreamInferTest : ::testing::Test {
  explicit StreamInferTest(ServerOptions options = {}) : server(std::move(options)) {}
  TestServer server;

  std::unique_ptr<ExchangeDriver> stream(TestServer::Headers headers = {}) {
    return server.grpc("ModelStreamInfer", std::move(headers));
  }
};

TEST_F(StreamInferTest, AnswersAndEndsWithTheClient) {
  const auto call = stream();
  call->data(row("echo", "a"));
  EXPECT_THAT(told(*call), ElementsAre("a."));
  call->data(row("echo", "b") + row("typed_not_there", "c"));
  EXPECT_THAT(told(*call), ElementsAre("a.", "b.", "!c"));
  EXPECT_FALSE(call->exchange.ended);
  call->end();
  EXPECT_EQ(call->trailer("grpc-status"), "0");
  const auto first = answers<ModelStreamInferResponse>(*call)[0].infer_response();
  EXPECT_EQ(first.model_name(), "echo");
  EXPECT_EQ(first.raw_output_contents(0), float_bytes({1, 2, 3, 4}));
}

TEST_F(StreamInferTest, KeepsTheOrderOfRequestsWhateverFinishesFirst) {
  const auto call = stream();
  call->data(row("puppet", "a") + row("puppet", "b") + row("puppet", "c") + row("echo", "d"));
  call->end();
  EXPECT_THAT(told(*call), ElementsAre());
  server.puppet.finish(2);
  EXPECT_THAT(told(*call), ElementsAre());
  std::thread([&] { server.puppet.finish(0); }).join();
  server.poll();
  EXPECT_THAT(told(*call), ElementsAre("a."));
  EXPECT_FALSE(call->exchange.ended);
  server.puppet.fail(0, error::internal("burnt"));
  EXPECT_THAT(told(*call), ElementsAre("a.", "!b.", "c.", "d."));
  EXPECT_EQ(call->trailer("grpc-status"), "0");
}

TEST_F(StreamInferTest, ErrorsEndTheStreamWhereTheClientWantsIt) {
  const auto call = stream({{"triton_grpc_error", "true"}});
  call->data(row("echo", "a") + row("nope", "b") + row("echo", "c"));
  EXPECT_THAT(told(*call), ElementsAre("a."));
  EXPECT_EQ(call->trailer("grpc-status"), "5");
  EXPECT_THAT(*call->trailer("grpc-message"), HasSubstr("'nope' is not found"));
}

TEST_F(StreamInferTest, ABadMessageIsAnsweredAndTheStreamGoesOn) {
  const auto call = stream();
  call->data(grpc_frame("\xff\xff") + row("echo", "a"));
  EXPECT_THAT(told(*call), ElementsAre("!", "a."));
}

TEST_F(StreamInferTest, DecoupledModelsAnswerAnyNumberOfTimes) {
  const auto call = stream();
  call->data(repeat("r", 3) + repeat("none", 0) + repeat("s", 1, true));
  call->end();
  EXPECT_THAT(told(*call), ElementsAre("r", "r", "r", "s", "s."));
  EXPECT_EQ(call->trailer("grpc-status"), "0");
}

TEST_F(StreamInferTest, DecoupledAnswersDoNotWaitForOthers) {
  const auto call = stream();
  call->data(row("puppet", "slow") + repeat("r", 1));
  EXPECT_THAT(told(*call), ElementsAre("r"));
  server.puppet.finish();
  EXPECT_THAT(told(*call), ElementsAre("r", "slow."));
}

TEST_F(StreamInferTest, AClientThatLeavesCancelsEverything) {
  const auto call = stream();
  call->data(row("puppet", "a") + row("puppet", "b"));
  call->close(net::CloseReason::kClientReset);
  server.puppet.finish(1);
  std::thread([&] { server.puppet.finish(0); }).join();
  server.poll();
  EXPECT_EQ(server.budget.used(), 0u);
}

TEST_F(StreamInferTest, GivesCreditForWhatItTook) {
  const auto call = stream();
  const std::string body = row("echo", "a");
  call->data(body.substr(0, 10));
  EXPECT_EQ(call->exchange.consumed, 10u);
  call->data(body.substr(10));
  EXPECT_EQ(call->exchange.consumed, body.size());
}

TEST_F(StreamInferTest, StopsReadingAndStartingWhenTheClientDoesNotRead) {
  const auto call = stream();
  const std::string body = row("echo", "a");
  call->data(body);
  call->exchange.unsent = std::size_t{5} << 20;
  call->data(body);
  call->data(body);
  EXPECT_EQ(call->exchange.consumed, body.size());
  EXPECT_THAT(told(*call), ElementsAre("a."));
  call->exchange.unsent = 0;
  call->writable();
  EXPECT_EQ(call->exchange.consumed, 3 * body.size());
  EXPECT_THAT(told(*call), ElementsAre("a.", "a.", "a."));
}

TEST_F(StreamInferTest, EndsOnShutdownWhenNothingIsInFlight) {
  const auto idle = stream();
  const auto busy = stream();
  busy->data(row("puppet", "a"));
  server.frontend().begin_shutdown();
  EXPECT_EQ(idle->trailer("grpc-status"), "14");
  EXPECT_FALSE(busy->exchange.ended);
  busy->data(row("echo", "late"));
  server.puppet.finish();
  EXPECT_THAT(told(*busy), ElementsAre("a.", "!late"));
  EXPECT_EQ(busy->trailer("grpc-status"), "14");
}

// At most two rows at once, by number or by bytes.
struct NarrowStreamTest : StreamInferTest, ::testing::WithParamInterface<bool> {
  NarrowStreamTest() : StreamInferTest(limits(GetParam())) {}
  static ServerOptions limits(bool by_number) {
    return by_number ? ServerOptions{.stream_max_requests = 2}
                     : ServerOptions{.stream_max_request_bytes = row("puppet", "a").size()};
  }
};

INSTANTIATE_TEST_SUITE_P(Limits, NarrowStreamTest, ::testing::Bool());

TEST_P(NarrowStreamTest, StartsNoMoreThanItsLimit) {
  const auto call = stream();
  const std::string body = row("puppet", "a");
  for (int i = 0; i < 4; ++i) call->data(body);
  call->end();
  EXPECT_EQ(server.puppet.running(), 2u);
  EXPECT_EQ(call->exchange.consumed, body.size());
  server.puppet.finish();
  EXPECT_EQ(server.puppet.running(), 2u);
  while (server.puppet.running() > 0) server.puppet.finish();
  EXPECT_EQ(told(*call).size(), 4u);
  EXPECT_EQ(call->exchange.consumed, 4 * body.size());
  EXPECT_EQ(call->trailer("grpc-status"), "0");
}

}  // namespace
}  // namespace proa::frontends
