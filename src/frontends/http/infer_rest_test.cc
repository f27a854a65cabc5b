#include <cstring>
#include <string>
#include <thread>

#include "frontends/compression.h"
#include "frontends/testing/test_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kInfer = "/v2/models/echo/infer";
constexpr std::string_view kRow =
    R"({"name":"INPUT0","datatype":"FP32","shape":[1,4],"data":[1,2.5,-3,4]})";

std::string floats(std::initializer_list<float> values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

struct InferRestTest : ::testing::Test {
  TestServer server;

  // A request whose JSON part is `json`, with tensors behind it.
  std::unique_ptr<ExchangeDriver> post(const std::string& json, const std::string& binary = {},
                                       TestServer::Headers headers = {},
                                       std::string_view target = kInfer) {
    if (!binary.empty()) {
      headers.emplace_back("inference-header-content-length", std::to_string(json.size()));
    }
    return server.http("POST", std::string(target), json + binary, std::move(headers));
  }
  std::string row_with(std::string_view more) {
    return std::string(R"({"inputs":[)").append(kRow).append("]").append(more).append("}");
  }
};

TEST_F(InferRestTest, AnswersJsonWithJson) {
  const auto call = post(row_with(R"(,"id":"r\u00e4")"));
  EXPECT_EQ(call->exchange.status, 200);
  EXPECT_EQ(call->header("content-type"), "application/json");
  EXPECT_EQ(call->header("inference-header-content-length"), std::nullopt);
  EXPECT_EQ(call->exchange.body,
            "{\"id\":\"r\xc3\xa4\",\"model_name\":\"echo\",\"model_version\":\"1\",\"outputs\":[{"
            "\"name\":\"OUTPUT0\",\"datatype\":\"FP32\",\"shape\":[1,4],"
            "\"data\":[1.0,2.5,-3.0,4.0]}]}");
}

TEST_F(InferRestTest, AnswersBinaryWithBinary) {
  const std::string json =
      R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[2,4],)"
      R"("parameters":{"binary_data_size":32}}],"parameters":{"binary_data_output":true}})";
  const std::string tensor = floats({1, 2, 3, 4, 5, 6, 7, 8});
  const auto call = post(json, tensor, {}, "/v2/models/echo/versions/1/infer");
  EXPECT_EQ(call->exchange.status, 200);
  EXPECT_EQ(call->header("content-type"), "application/octet-stream");
  const std::string& body = call->exchange.body;
  const auto json_size = std::stoul(*call->header("inference-header-content-length"));
  EXPECT_THAT(body.substr(0, json_size), HasSubstr(R"("binary_data_size":32)"));
  EXPECT_EQ(body.substr(json_size), tensor);
}

TEST_F(InferRestTest, MixesJsonInputsAndBinaryOutputs) {
  const auto binary =
      post(row_with(R"(,"outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}])"));
  EXPECT_THAT(binary->exchange.body, ::testing::EndsWith(floats({1, 2.5, -3, 4})));
  const auto json =
      post(R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,4],)"
           R"("parameters":{"binary_data_size":16}}],"parameters":{"binary_data_output":true},)"
           R"("outputs":[{"name":"OUTPUT0","parameters":{"binary_data":false}}]})",
           floats({1, 2, 3, 4}));
  EXPECT_EQ(json->header("content-type"), "application/json");
  EXPECT_THAT(json->exchange.body, HasSubstr(R"("data":[1.0,2.0,3.0,4.0])"));
}

TEST_F(InferRestTest, TakesTheWholeBodyAsTheOnlyInput) {
  const auto call = server.http("POST", std::string(kInfer), floats({1, 2, 3, 4}),
                                {{"inference-header-content-length", "0"}});
  EXPECT_EQ(call->exchange.status, 200) << call->exchange.body;
  EXPECT_THAT(call->exchange.body, HasSubstr(R"("shape":[1,4])"));
  EXPECT_THAT(call->exchange.body, ::testing::EndsWith(floats({1, 2, 3, 4})));
  const auto four = server.http("POST", "/v2/models/typed/infer", "x",
                                {{"inference-header-content-length", "0"}});
  EXPECT_EQ(four->exchange.status, 400);
  EXPECT_THAT(four->exchange.body, HasSubstr("got 4 inputs in 'typed'"));
}

TEST_F(InferRestTest, ClassifiesWithLabels) {
  const auto call =
      post(row_with(R"(,"outputs":[{"name":"OUTPUT0","parameters":{"classification":2}}])"));
  EXPECT_THAT(
      call->exchange.body,
      HasSubstr(R"("datatype":"BYTES","shape":[1,2],"data":["4.000000:3:d","2.500000:1:b"])"));
}

TEST_F(InferRestTest, CarriesEveryKindOfTensor) {
  const auto call = post(
      R"({"inputs":[{"name":"INPUT0","datatype":"BYTES","shape":[2],"data":["a","\n"]},)"
      R"({"name":"INPUT1","datatype":"INT64","shape":[1],"data":[-9007199254740993]},)"
      R"({"name":"INPUT2","datatype":"BOOL","shape":[2],"data":[true,false]},)"
      R"({"name":"INPUT3","datatype":"FP16","shape":[1],"parameters":{"binary_data_size":2}}],)"
      R"("outputs":[{"name":"OUTPUT3","parameters":{"binary_data":true}},{"name":"OUTPUT0"},)"
      R"({"name":"OUTPUT1"},{"name":"OUTPUT2"}]})",
      "\x34\x12", {}, "/v2/models/typed/infer");
  EXPECT_EQ(call->exchange.status, 200) << call->exchange.body;
  EXPECT_THAT(call->exchange.body, HasSubstr(R"("data":["a","\n"])"));
  EXPECT_THAT(call->exchange.body, HasSubstr(R"("data":[-9007199254740993])"));
  EXPECT_THAT(call->exchange.body, HasSubstr(R"("data":[true,false])"));
  EXPECT_THAT(call->exchange.body, ::testing::EndsWith("\x34\x12"));
}

TEST_F(InferRestTest, SaysWhatIsWrongWithARequest) {
  struct Case {
    std::string json;
    std::string_view expected;
  };
  const Case cases[] = {
      {R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,5],"data":[1,2,3,4,5]}]})",
       "unexpected shape for input 'INPUT0'"},
      {R"({"inputs":[{"name":"INPUT0","datatype":"FP33","shape":[1,4],"data":[1,2,3,4]}]})",
       "FP33"},
      {R"({"inputs":[]})", "INPUT0"},
      {R"({"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[9,4],)"
       R"("parameters":{"binary_data_size":4}}]})",
       "binary"},
      {row_with(R"(,"outputs":[{"name":"NOPE"}])"), "NOPE"},
      {"{\"inputs\":", "line"},
  };
  for (const Case& c : cases) {
    const auto call = post(c.json);
    EXPECT_EQ(call->exchange.status, 400) << c.json;
    EXPECT_THAT(call->exchange.body, ::testing::StartsWith("{\"error\":\""));
    EXPECT_THAT(call->exchange.body, HasSubstr(std::string(c.expected))) << c.json;
  }
}

TEST_F(InferRestTest, RefusesALyingJsonLength) {
  for (const char* length : {"-1", "9999", "12x", "99999999999999999999"}) {
    const auto call = server.http("POST", std::string(kInfer), "{}",
                                  {{"inference-header-content-length", length}});
    EXPECT_EQ(call->exchange.status, 400) << length;
    EXPECT_THAT(call->exchange.body, HasSubstr("Inference-Header-Content-Length")) << length;
  }
}

TEST_F(InferRestTest, RefusesUnknownAndDecoupledModels) {
  EXPECT_EQ(post(row_with(""), {}, {}, "/v2/models/nope/infer")->exchange.status, 404);
  const auto decoupled = post(row_with(""), {}, {}, "/v2/models/repeat/infer");
  EXPECT_EQ(decoupled->exchange.status, 501);
  EXPECT_THAT(decoupled->exchange.body, HasSubstr("decoupled transaction policy"));
}

TEST_F(InferRestTest, PacksLargeAnswersForClientsThatAskForIt) {
  std::string rows;
  for (int i = 0; i < 8; ++i) rows += "11111111.5,22222222.5,33333333.5,44444444.5,";
  rows.pop_back();
  const std::string json = R"({"id":")" + std::string(1000, 'x') +
                           R"(","inputs":[{"name":"INPUT0","datatype":"FP32","shape":[8,4],)"
                           R"("data":[)" +
                           rows + "]}]}";
  const auto plain = post(json);
  const auto packed = post(json, {}, {{"accept-encoding", "deflate, gzip"}});
  EXPECT_EQ(packed->header("content-encoding"), "deflate");
  EXPECT_LT(packed->exchange.body.size(), plain->exchange.body.size() / 2);
  MessageBuffer to(host_memory(), server.budget);
  ASSERT_TRUE(decompress(std::as_bytes(std::span(packed->exchange.body)), 100'000, "", to));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(to.bytes().data()), to.size()),
            plain->exchange.body);
}

TEST_F(InferRestTest, AnswersWhenAnotherThreadHasFinished) {
  const auto call = post(row_with(""), {}, {}, "/v2/models/puppet/infer");
  EXPECT_FALSE(call->exchange.ended);
  EXPECT_GT(server.budget.used(), 0u);
  std::thread([&] { server.puppet.finish(); }).join();
  EXPECT_FALSE(call->exchange.ended);
  server.poll();
  EXPECT_EQ(call->exchange.status, 200);
  EXPECT_THAT(call->exchange.body, HasSubstr("[1.0,2.5,-3.0,4.0]"));
  call->close(net::CloseReason::kFinished);
  EXPECT_EQ(server.budget.used(), 0u);
}

TEST_F(InferRestTest, TellsTheModelsError) {
  const auto call = post(row_with(""), {}, {}, "/v2/models/puppet/infer");
  server.puppet.fail(0, error::internal("the engine is \"hot\""));
  EXPECT_EQ(call->exchange.status, 500);
  EXPECT_THAT(call->exchange.body, HasSubstr(R"(the engine is \"hot\")"));
}

TEST_F(InferRestTest, AClientThatLeavesCancelsItsRequest) {
  const auto call = post(row_with(""), {}, {}, "/v2/models/puppet/infer");
  call->close(net::CloseReason::kClientReset);
  std::thread([&] { server.puppet.finish(); }).join();
  server.poll();  // an answer to nobody
  EXPECT_EQ(server.budget.used(), 0u);
}

}  // namespace
}  // namespace proa::frontends
