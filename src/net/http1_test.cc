#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/manual_clock.h"
#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/testing/http1_client.h"
#include "net/testing/loopback.h"
#include "net/testing/test_server.h"

namespace proa::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Http1Test, AnswersManyRequestsOnOneConnection) {
  TestServer server;
  Http1Client client(server.port());
  for (int i = 0; i < 3; ++i) {
    const std::string body = fmt::format("hello {}", i);
    const Http1Response response = client.post("/echo", body);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, body);
    EXPECT_EQ(response.headers.at("content-type"), "text/plain");
  }
  EXPECT_EQ(server.group().stats().connections_accepted, 1u);
  EXPECT_EQ(server.group().stats().http1_requests, 3u);
}

TEST(Http1Test, GivesTheHandlerTheHead) {
  TestRequest seen;
  TestServer server({.answer = [&](Exchange& exchange, TestRequest& request) {
    seen = request;
    respond_text(exchange, std::string(exchange.peer()));
  }});
  Http1Client client(server.port());
  client.send(
      "PUT /v2/a%20b?x=1 HTTP/1.1\r\nHost: example.org:80\r\nX-ThinG:  some value \r\n\r\n");
  EXPECT_THAT(client.read_response().body, HasSubstr("127.0.0.1:"));
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.target, "/v2/a%20b?x=1");
  EXPECT_EQ(seen.authority, "example.org:80");
  EXPECT_EQ(seen.header("x-thing"), "some value");
  EXPECT_EQ(seen.http_major, 1);
}

TEST(Http1Test, KeepsNamesAsTheClientWroteThem) {
  std::string written;
  TestServer server({.head = [&](Exchange&, const RequestHead& head) {
    for (const Header& header : head.headers) {
      written += fmt::format("{}={};", header.name, header.spelled);
    }
  }});
  Http1Client client(server.port());
  client.send("GET / HTTP/1.1\r\nHost: t\r\nX-ThinG: 1\r\nplain: 2\r\nANOTHER: 3\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 200);
  EXPECT_EQ(written, "host=Host;x-thing=X-ThinG;plain=;another=ANOTHER;");
}

class BodyTest : public testing::TestWithParam<bool> {};

TEST_P(BodyTest, ReadsBigBodiesInPlaceOrInPieces) {
  TestServer server({.body_target = GetParam()});
  Http1Client client(server.port());
  for (const std::size_t size : {1u, 4095u, 300'000u, 5'000'000u}) {
    const std::string body = pattern(size);
    std::thread sender([&] { client.send(http1_request("POST", "/echo", body)); });
    const Http1Response response = client.read_response();
    sender.join();
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.body == body) << size;
  }
}

TEST_P(BodyTest, AcceptsEveryCutOfAPipelinedConversation) {
  TestServer server({.body_target = GetParam()});
  const std::string conversation = http1_request("POST", "/a", "first") +
                                   "POST /b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
                                   "chunked\r\n\r\n3\r\nsec\r\n3;x=y\r\nond\r\n"
                                   "0\r\nTrailer: 1\r\n\r\n" +
                                   "\r\n" + http1_request("POST", "/c", "third");
  for (std::size_t cut = 1; cut < conversation.size(); ++cut) {
    Http1Client client(server.port());
    const std::uint64_t before = server.group().stats().bytes_received;
    client.send(conversation.substr(0, cut));
    while (server.group().stats().bytes_received < before + cut) std::this_thread::yield();
    client.send(conversation.substr(cut));
    EXPECT_EQ(client.read_response().body, "first") << cut;
    EXPECT_EQ(client.read_response().body, "second") << cut;
    EXPECT_EQ(client.read_response().body, "third") << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, BodyTest, testing::Bool());

TEST(Http1Test, TakesTargetsThatNameTheHost) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest& request) {
    respond_text(exchange, request.authority + " " + request.target);
  }});
  Http1Client client(server.port());
  EXPECT_EQ(client.get("http://example.org:80/v2?x=1").body, "example.org:80 /v2?x=1");
  EXPECT_EQ(client.get("HTTP://example.org").body, "example.org /");
}

TEST(Http1Test, TellsTheDate) {
  TestServer server;
  Http1Client client(server.port());
  EXPECT_THAT(client.get("/").headers["date"], testing::EndsWith(" GMT"));
}

TEST(Http1Test, AcceptsAConversationByteByByte) {
  TestServer server;
  Http1Client client(server.port());
  const std::string conversation =
      http1_request("POST", "/a", "first") +
      "POST /b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nsecond\r\n0\r\n\r\n"
      "POST /c HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: 1\r\n\r\n";
  for (const char c : conversation) {
    const std::uint64_t before = server.group().stats().bytes_received;
    ASSERT_TRUE(client.send({&c, 1}));
    while (server.group().stats().bytes_received == before) std::this_thread::yield();
  }
  EXPECT_EQ(client.read_response().body, "first");
  EXPECT_EQ(client.read_response().body, "second");
  EXPECT_EQ(client.read_response().body, "");
}

TEST(Http1Test, AnswersPipelinedRequestsInOrderThoughAnsweredByThreads) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest& request) {
    std::thread([ref = exchange.ref(), target = request.target] {
      ref.run([target](Exchange& e) { respond_text(e, target); });
    }).join();  // the answer is posted, and comes after this function has returned
  }});
  Http1Client client(server.port());
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += http1_request("GET", fmt::format("/{}", i));
  client.send(requests);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.read_response().body, fmt::format("/{}", i));
}

TEST(Http1Test, SaysContinueToThoseWhoExpectIt) {
  TestServer server;
  Http1Client client(server.port());
  client.send("POST /e HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_response(/*head_only=*/true).status, 100);
  client.send("body");
  EXPECT_EQ(client.read_response().body, "body");
}

TEST(Http1Test, RefusesWithoutContinue) {
  TestServer server(
      {.head = [](Exchange& exchange, const RequestHead&) { respond_text(exchange, "no", 404); }});
  Http1Client client(server.port());
  client.send("POST /e HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  const Http1Response response = client.read_response();
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_FALSE(server.log().has("end /e"));
}

TEST(Http1Test, DropsASmallBodyAfterAnEarlyAnswerAndGoesOn) {
  TestServer server({.head = [](Exchange& exchange, const RequestHead& head) {
    if (head.target == "/no") respond_text(exchange, "no", 404);
  }});
  Http1Client client(server.port());
  client.send("POST /no HTTP/1.1\r\nHost: t\r\nContent-Length: 6\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 404);
  client.send("ignore" + http1_request("POST", "/yes", "ok"));
  EXPECT_EQ(client.read_response().body, "ok");
  EXPECT_FALSE(server.log().has("end /no"));
}

TEST(Http1Test, ClosesAfterAnEarlyAnswerToABigBody) {
  TestServer server(
      {.head = [](Exchange& exchange, const RequestHead&) { respond_text(exchange, "no", 404); }});
  Http1Client client(server.port());
  client.send("POST /no HTTP/1.1\r\nHost: t\r\nContent-Length: 50000000\r\n\r\n" +
              std::string(1'000'000, 'x'));
  const Http1Response response = client.read_response();
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.headers.at("connection"), "close");
}

TEST(Http1Test, AnswersHeadWithoutABody) {
  TestServer server(
      {.answer = [](Exchange& exchange, TestRequest&) { respond_text(exchange, "12345"); }});
  Http1Client client(server.port());
  client.send(http1_request("HEAD", "/") + http1_request("GET", "/"));
  EXPECT_EQ(client.read_response(/*head_only=*/true).headers.at("content-length"), "5");
  EXPECT_EQ(client.read_response().body, "12345");
}

TEST(Http1Test, ServesHttp10) {
  TestServer server;
  Http1Client client(server.port());
  client.send("POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na");
  EXPECT_EQ(client.read_response().headers.at("connection"), "keep-alive");
  client.send("POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\na");
  EXPECT_EQ(client.read_response().headers.at("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Http1Test, ClosesWhenTheClientAsks) {
  TestServer server;
  Http1Client client(server.port());
  client.send(http1_request("GET", "/", "", "Connection: close\r\n"));
  EXPECT_EQ(client.read_response().headers.at("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_TRUE(server.log().wait_for("finished /"));
}

void answer_in_parts(Exchange& exchange, TestRequest&) {
  exchange.send_headers(200, {});
  for (int i = 0; i < 3; ++i) {
    Segment parts[] = {{fmt::format("part {};", i), BufferView(Buffer::allocate(10'000))}};
    exchange.send_data(parts);
  }
  const Header trailers[] = {{"grpc-status", "0"}};
  exchange.end(trailers);
}

TEST(Http1Test, SendsPartsAsChunksAndToTheEndForHttp10) {
  TestServer server({.answer = answer_in_parts});
  Http1Client client(server.port());
  const Http1Response response = client.get("/");
  EXPECT_EQ(response.headers.at("transfer-encoding"), "chunked");
  EXPECT_EQ(response.body.size(), 3 * (7u + 10'000));
  EXPECT_EQ(client.get("/").body.size(), 3 * (7u + 10'000));
  client.send("GET / HTTP/1.0\r\n\r\n");
  const Http1Response old = client.read_response();
  EXPECT_FALSE(old.headers.contains("transfer-encoding"));
  EXPECT_EQ(old.body.size(), 3 * (7u + 10'000));
}

struct Bad {
  std::string request;
  int status;
  std::string why;
};

class RefusalTest : public testing::TestWithParam<Bad> {};

TEST_P(RefusalTest, SaysWhatWasWrongAndCloses) {
  Limits limits;
  limits.max_head_bytes = 2000;
  limits.max_target_bytes = 1000;
  limits.max_body_bytes = 100;
  limits.max_headers = 10;
  TestServer server({.limits = limits});
  Http1Client client(server.port());
  client.send(GetParam().request);
  const Http1Response response = client.read_response();
  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_EQ(response.headers.at("content-type"), "application/json");
  EXPECT_THAT(response.body, HasSubstr("{\"error\":\""));
  EXPECT_THAT(response.body, HasSubstr(GetParam().why));
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
}

std::string many_headers(int count) {
  std::string headers;
  for (int i = 0; i < count; ++i) headers += fmt::format("A{}: b\r\n", i);
  return headers;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RefusalTest,
    testing::Values(
        Bad{"\x16\x03\x01\x02", 400, "TLS"}, Bad{"GET  / HTTP/1.1\r\n\r\n", 400, "malformed"},
        Bad{"GET / HTTP/3.1\r\nHost: t\r\n\r\n", 505, "HTTP/2"},
        Bad{"GET / HTTP/1.1\r\n\r\n", 400, "host"},
        Bad{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "host"},
        Bad{http1_request("GET", "/", "", "A: b\r\n c\r\n"), 400, "folded"},
        Bad{http1_request("POST", "/", "", "Content-Length: 1\r\nContent-Length: 1\r\n"), 400,
            "more than once"},
        Bad{http1_request("POST", "/", "", "Content-Length: 1, 1\r\n"), 400, "more than once"},
        Bad{http1_request("POST", "/", "", "Content-Length: -1\r\n"), 400, "content-length"},
        Bad{http1_request("POST", "/", "", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
            400, "transfer-encoding"},
        Bad{http1_request("POST", "/", "", "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"),
            400, "content-length"},
        Bad{http1_request("POST", "/", "", "Transfer-Encoding: gzip, chunked\r\n"), 501, "gzip"},
        Bad{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0"},
        Bad{http1_request("POST", "/", "", "Transfer-Encoding: chunked\r\n") + "zz\r\n", 400,
            "chunk"},
        Bad{http1_request("POST", "/", "", "Transfer-Encoding: chunked\r\n") +
                "3\r\nabcd\r\n0\r\n\r\n",
            400, "chunk"},
        Bad{http1_request("POST", "/", "", "Transfer-Encoding: chunked\r\n") + "ffffffff\r\n" +
                std::string(200, 'x'),
            413, "at most 100"},
        Bad{http1_request("POST", "/", std::string(101, 'x')), 413, "101 bytes"},
        Bad{http1_request("POST", "/", "", "Expect: something\r\n"), 417, "something"},
        Bad{http1_request("GET", "/" + std::string(1200, 'a')), 414, "at most 1000"},
        Bad{"GET /" + std::string(1500, 'a'), 414, "at most 1000"},
        Bad{http1_request("GET", "/", "", "A: " + std::string(2100, 'b') + "\r\n"), 431,
            "2000 bytes"},
        Bad{"GET / HTTP/1.1\r\nA: " + std::string(2100, 'b'), 431, "2000 bytes"},
        Bad{http1_request("GET", "/", "", many_headers(12)), 431, "10 header lines"}));

TEST(Http1Test, TellsTheHandlerWhenTheClientIsGone) {
  TestServer server({.answer = [](Exchange&, TestRequest&) {}});
  Http1Client client(server.port());
  client.send(http1_request("GET", "/work"));
  ASSERT_TRUE(server.log().wait_for("end /work"));
  client.close();
  EXPECT_TRUE(server.log().wait_for("client reset /work"));
}

TEST(Http1Test, DropsAnAnswerThatComesAfterTheClientLeft) {
  ExchangeRef kept;
  TestServer server({.answer = [&](Exchange& exchange, TestRequest&) { kept = exchange.ref(); }});
  {
    Http1Client client(server.port());
    client.send(http1_request("GET", "/work"));
    ASSERT_TRUE(server.log().wait_for("end /work"));
  }
  ASSERT_TRUE(server.log().wait_for("client reset /work"));
  kept.run([](Exchange&) { FAIL() << "the exchange is over"; });
  Http1Client other(server.port());
  other.send(http1_request("GET", "/other"));
  ASSERT_TRUE(server.log().wait_for("end /other"));
  kept = ExchangeRef();
}

TEST(Http1Test, CutsTheConnectionOnReset) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest&) { exchange.reset(8); }});
  Http1Client client(server.port());
  client.send(http1_request("GET", "/"));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_TRUE(server.log().wait_for("server abort /"));
}

TEST(Http1Test, ReadsNoMoreThanTheWindowUnderManualFlowControl) {
  Limits limits;
  limits.stream_window_bytes = 1 << 20;
  std::atomic<std::size_t> got = 0;
  ExchangeRef ref;
  TestServer server(
      {.answer = [&](Exchange& exchange, TestRequest&) { respond_text(exchange, "done"); },
       .limits = limits,
       .body_target = false,
       .manual_flow_control = true,
       .head = [&](Exchange& exchange, const RequestHead&) { ref = exchange.ref(); },
       .data = [&](Exchange&, std::span<const std::byte> data) { got += data.size(); }});
  Http1Client client(server.port());
  const std::string body(40 << 20, 'x');
  std::atomic<bool> sent = false;
  std::thread sender([&] {
    client.send(http1_request("POST", "/", body));
    sent = true;
  });
  while (got < limits.stream_window_bytes) std::this_thread::yield();
  EXPECT_FALSE(sent);
  EXPECT_LE(got.load(), limits.stream_window_bytes + EventLoop::kReadBufferBytes);
  std::size_t consumed = 0;
  while (consumed < body.size()) {
    const std::size_t now = got;
    EXPECT_LE(now, consumed + limits.stream_window_bytes + EventLoop::kReadBufferBytes);
    if (now == consumed) {
      std::this_thread::yield();
      continue;
    }
    ref.run([n = now - consumed](Exchange& exchange) { exchange.consume(n); });
    consumed = now;
  }
  sender.join();
  EXPECT_EQ(client.read_response().body, "done");
}

}  // namespace
}  // namespace proa::net
