#include <string>

#include "frontends/compression.h"
#include "frontends/testing/test_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using ::testing::HasSubstr;

struct RestTest : ::testing::Test {
  TestServer server;

  std::string get(const std::string& target, int status = 200) {
    const auto call = server.http("GET", target);
    EXPECT_EQ(call->exchange.status, status) << target;
    EXPECT_TRUE(call->exchange.ended);
    return call->exchange.body;
  }
};

TEST_F(RestTest, DescribesTheServer) {
  EXPECT_EQ(get("/v2"),
            R"({"name":"proa","version":"1.2.3","extensions":["classification",)"
            R"("model_repository","schedule_policy","model_configuration","binary_tensor_data",)"
            R"("parameters","statistics","logging"]})");
}

TEST_F(RestTest, TellsHealth) {
  EXPECT_EQ(get("/v2/health/live"), "");
  EXPECT_EQ(get("/v2/health/ready"), "");
  server.frontend().begin_shutdown();
  EXPECT_EQ(get("/v2/health/live"), "");
  EXPECT_EQ(get("/v2/health/ready", 400), "");
}

TEST_F(RestTest, DescribesAModel) {
  const std::string expected =
      R"({"name":"echo","versions":["1"],"platform":"echo",)"
      R"("inputs":[{"name":"INPUT0","datatype":"FP32","shape":[-1,4]}],)"
      R"("outputs":[{"name":"OUTPUT0","datatype":"FP32","shape":[-1,4]}]})";
  EXPECT_EQ(get("/v2/models/echo"), expected);
  EXPECT_EQ(get("/v2/models/%65cho/versions/1"), expected);
}

TEST_F(RestTest, TellsWhetherAModelIsReady) {
  EXPECT_EQ(get("/v2/models/echo/ready"), "");
  EXPECT_EQ(get("/v2/models/echo/versions/1/ready"), "");
  for (const char* target :
       {"/v2/models/nope/ready", "/v2/models/broken/ready", "/v2/models/echo/versions/2/ready"}) {
    EXPECT_THAT(get(target, 400), ::testing::StartsWith(R"({"error":"Model version not ready: )"));
  }
  EXPECT_THAT(get("/v2/models/nope/ready", 400), HasSubstr("'nope'"));
}

TEST_F(RestTest, ShowsConfigurationAndStatistics) {
  EXPECT_THAT(get("/v2/models/echo/config"), HasSubstr(R"("max_batch_size":8)"));
  EXPECT_THAT(get("/v2/models/echo/versions/1/stats"),
              ::testing::StartsWith(R"({"model_stats":[{"name":"echo","version":"1")"));
  const std::string all = get("/v2/models/stats");
  EXPECT_THAT(all, HasSubstr(R"("name":"echo")"));
  EXPECT_THAT(all, HasSubstr(R"("name":"typed")"));
  EXPECT_THAT(get("/v2/models/echo/stats"), ::testing::Not(HasSubstr("typed")));
}

TEST_F(RestTest, ListsTheRepository) {
  const auto all = server.http("POST", "/v2/repository/index");
  EXPECT_THAT(all->exchange.body, HasSubstr(R"({"name":"echo","version":"1","state":"READY"})"));
  EXPECT_THAT(all->exchange.body, HasSubstr(R"("name":"broken")"));
  EXPECT_THAT(all->exchange.body, HasSubstr(R"("state":"UNAVAILABLE","reason":")"));
  const auto ready = server.http("POST", "/v2/repository/index", R"({"ready":true})");
  EXPECT_THAT(ready->exchange.body, ::testing::Not(HasSubstr("broken")));
  const auto bad = server.http("POST", "/v2/repository/index", R"({"ready":)");
  EXPECT_EQ(bad->exchange.status, 400);
}

TEST_F(RestTest, RefusesLoadAndUnloadByASentence) {
  for (const char* target :
       {"/v2/repository/models/echo/load", "/v2/repository/models/echo/unload"}) {
    const auto call = server.http("POST", target, R"({"parameters":{}})");
    EXPECT_EQ(call->exchange.status, 503);
    EXPECT_THAT(call->exchange.body, HasSubstr("explicit model load / unload is not allowed"));
  }
}

TEST_F(RestTest, ShowsLogSettingsAndRefusesWrongOnes) {
  EXPECT_THAT(get("/v2/logging"), HasSubstr(R"("log_verbose_level":0)"));
  const auto wrong = server.http("POST", "/v2/logging", R"({"log_info":"no"})");
  EXPECT_EQ(wrong->exchange.status, 400);
  const auto file = server.http("POST", "/v2/logging", R"({"log_file":"/tmp/x"})");
  EXPECT_EQ(file->exchange.status, 501);
}

TEST_F(RestTest, SaysWhatIsNotBuilt) {
  const std::pair<const char*, const char*> asked[] = {
      {"GET", "/v2/systemsharedmemory/status"},
      {"GET", "/v2/cudasharedmemory/region/r/status"},
      {"POST", "/v2/systemsharedmemory/region/r/register"},
      {"POST", "/v2/cudasharedmemory/unregister"},
      {"GET", "/v2/trace/setting"},
      {"POST", "/v2/models/echo/trace/setting"},
      {"POST", "/v2/models/echo/generate_stream"},
  };
  for (const auto& [method, target] : asked) {
    const auto call = server.http(method, target);
    EXPECT_EQ(call->exchange.status, 501) << target;
    EXPECT_THAT(call->exchange.body, HasSubstr("not built")) << target;
  }
  get("/v2/othersharedmemory/status", 404);
}

TEST_F(RestTest, NamesUnknownModels) {
  EXPECT_EQ(get("/v2/models/nope", 404),
            R"({"error":"Request for unknown model: 'nope' is not found"})");
  for (const char* target : {"/v2/models/nope/config", "/v2/models/nope/stats",
                             "/v2/models/echo/versions/7", "/v2/models/echo/versions/7/stats"}) {
    EXPECT_THAT(get(target, 404), HasSubstr("is not found")) << target;
  }
}

TEST_F(RestTest, RefusesOtherPathsAndMethods) {
  EXPECT_THAT(get("/api/infer", 404), HasSubstr("no such path: /api/infer"));
  const auto call = server.http("DELETE", "/v2/models/echo");
  EXPECT_EQ(call->exchange.status, 405);
  EXPECT_EQ(call->header("allow"), "GET");
  EXPECT_THAT(call->exchange.body, HasSubstr("error"));
  EXPECT_EQ(server.http("GET", "/v2/models/echo/infer")->header("allow"), "POST");
}

TEST_F(RestTest, EveryErrorIsJson) {
  const auto call = server.http("GET", "/v2/models/a%22b%0a");
  EXPECT_EQ(call->exchange.status, 404);
  EXPECT_EQ(call->header("content-type"), "application/json");
  EXPECT_EQ(call->exchange.body,
            R"({"error":"Request for unknown model: 'a\"b\\x0a' is not found"})");
}

TEST(ServicesTest, AListenerAnswersOnlyWhatItCarries) {
  TestServer server({.metrics = [] { return std::string("m 1\n"); }});
  const auto ask = [&](Services services, const std::string& target) {
    ExchangeDriver call(server.loop(), server.frontend().factory(services), {.target = target});
    call.end();
    return std::pair(call.exchange.status, call.exchange.body);
  };
  EXPECT_EQ(ask({.metrics = true}, "/metrics"), std::pair(200, std::string("m 1\n")));
  EXPECT_EQ(ask({.metrics = true}, "/v2").first, 404);
  EXPECT_EQ(ask({.rest = true}, "/metrics").first, 404);
  EXPECT_EQ(ask({.rest = true}, "/v2").first, 200);
  EXPECT_EQ(ask({.grpc = true}, "/v2").first, 404);
}

TEST(RestBodyTest, RefusesLargeBodiesAnnouncedOrNot) {
  TestServer server({.http_max_input_bytes = 1000});
  const std::string body(1001, ' ');
  const auto announced = server.http("POST", "/v2/repository/index", body);
  EXPECT_EQ(announced->exchange.status, 413);
  EXPECT_THAT(announced->exchange.body, HasSubstr("1000 bytes. Use --http-max-input-size"));

  ExchangeDriver chunked(server.loop(), server.frontend().factory({.rest = true}),
                         {.method = "POST", .target = "/v2/repository/index"});
  chunked.data(body.substr(0, 1000));
  EXPECT_FALSE(chunked.exchange.ended);
  chunked.data(" ");
  EXPECT_EQ(chunked.exchange.status, 413);
}

TEST(RestBodyTest, RefusesABodyBeyondTheBudget) {
  TestServer server({}, 10'000);
  const auto call = server.http("POST", "/v2/repository/index", std::string(10'001, ' '));
  EXPECT_EQ(call->exchange.status, 503);
  EXPECT_THAT(call->exchange.body, HasSubstr("--max-in-flight-bytes"));
  EXPECT_EQ(server.budget.used(), 0u);
}

TEST(RestBodyTest, UnpacksTheBodyOrRefusesItsEncoding) {
  TestServer server({.http_max_input_bytes = 1000});
  const auto packed = [](std::string_view text) {
    std::string out;
    const auto plain = std::as_bytes(std::span(text));
    compress(std::span(&plain, 1), Encoding::kGzip, 6, out);
    return out;
  };
  const auto send = [&](const std::string& body, const char* encoding) {
    return server.http("POST", "/v2/repository/index", body, {{"content-encoding", encoding}});
  };
  EXPECT_EQ(send(packed(R"({"ready":true})"), "gzip")->exchange.status, 200);
  EXPECT_EQ(send(packed(std::string(1001, ' ')), "gzip")->exchange.status, 413);
  EXPECT_EQ(send("nonsense", "gzip")->exchange.status, 400);
  EXPECT_EQ(send("{}", "br")->exchange.status, 501);
}

}  // namespace
}  // namespace proa::frontends
