// Limits in time and number, by a clock that the tests move.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/testing/manual_clock.h"
#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/http2_guards.h"
#include "net/testing/http1_client.h"
#include "net/testing/http2_client.h"
#include "net/testing/test_server.h"

namespace proa::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class LimitsTest : public testing::Test {
 protected:
  TestServer::Options options(TestServer::Answer answer = {}) {
    TestServer::Options made;
    made.answer = std::move(answer);
    made.group.clock = &clock_;
    return made;
  }
  void wait_for_bytes(TestServer& server, std::uint64_t count) {
    while (server.group().stats().bytes_received < count) std::this_thread::yield();
  }

  // Moves the clock, and waits for a tick by which a connection that says nothing ends. More than
  // head_timeout.
  void advance_and_tick(TestServer& server, seconds by) {
    const auto accepted = server.group().stats().connections_accepted;
    Http1Client silent(server.port());
    while (server.group().stats().connections_accepted == accepted) std::this_thread::yield();
    clock_.advance(by);
    EXPECT_TRUE(silent.closed_by_server());
  }

  ManualClock clock_;
};

TEST_F(LimitsTest, ClosesAConnectionThatNeverSpeaks) {
  TestServer server(options());
  Http1Client client(server.port());
  while (server.group().stats().connections_open == 0) std::this_thread::yield();
  clock_.advance(seconds(11));
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(LimitsTest, Answers408ToAHeadThatDoesNotEnd) {
  TestServer server(options());
  Http1Client client(server.port());
  const std::string part = "GET / HTTP/1.1\r\nHost: t\r\nA: ";
  client.send(part);
  wait_for_bytes(server, part.size());
  clock_.advance(seconds(9));
  client.send("b");  // a trickle does not help
  wait_for_bytes(server, part.size() + 1);
  clock_.advance(seconds(2));
  const Http1Response response = client.read_response();
  EXPECT_EQ(response.status, 408);
  EXPECT_THAT(response.body, HasSubstr("head"));
  EXPECT_TRUE(client.closed_by_server());
  EXPECT_EQ(server.group().stats().connections_abused, 1u);
}

TEST_F(LimitsTest, Answers408ToABodyThatStops) {
  TestServer server(options());
  Http1Client client(server.port());
  client.send("POST /b HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nabc");
  ASSERT_TRUE(server.log().wait_for("head /b"));
  clock_.advance(seconds(31));
  const Http1Response response = client.read_response();
  EXPECT_EQ(response.status, 408);
  EXPECT_THAT(response.body, HasSubstr("body"));
  EXPECT_TRUE(server.log().wait_for("server abort /b"));
}

TEST_F(LimitsTest, Answers408ToABodyThatTrickles) {
  TestServer server(options());
  Http1Client slow(server.port()), fast(server.port());
  for (Http1Client* client : {&slow, &fast}) {
    const std::string target = client == &slow ? "/slow" : "/fast";
    client->send("POST " + target + " HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n");
    ASSERT_TRUE(server.log().wait_for("head " + target));
  }
  std::uint64_t received = server.group().stats().bytes_received;
  for (int i = 0; i < 2; ++i) {  // a byte every 20 s, against 20,000
    slow.send("a");
    fast.send(std::string(20'000, 'a'));
    wait_for_bytes(server, received += 20'001);
    advance_and_tick(server, seconds(20));
  }
  EXPECT_EQ(slow.read_response().status, 408);
  fast.send(std::string(60'000, 'a'));
  EXPECT_EQ(fast.read_response().status, 200);
}

TEST_F(LimitsTest, ClosesIdleConnectionsButNotBusyOnes) {
  ExchangeRef work;
  TestServer server(options([&](Exchange& exchange, TestRequest& request) {
    if (request.target == "/work") {
      work = exchange.ref();
    } else {
      respond_text(exchange, "ok");
    }
  }));
  Http1Client idle(server.port()), busy(server.port());
  EXPECT_EQ(idle.get("/").status, 200);
  busy.send(http1_request("GET", "/work"));
  ASSERT_TRUE(server.log().wait_for("end /work"));
  clock_.advance(seconds(80));
  EXPECT_TRUE(idle.closed_by_server());
  work.run([](Exchange& exchange) { respond_text(exchange, "late"); });
  EXPECT_EQ(busy.read_response().body, "late");
}

TEST_F(LimitsTest, RefusesConnectionsBeyondTheLimit) {
  TestServer::Options made = options();
  made.limits.max_connections = 2;
  TestServer server(std::move(made));
  auto first = std::make_unique<Http1Client>(server.port());
  Http1Client second(server.port());
  EXPECT_EQ(first->get("/").status, 200);
  EXPECT_EQ(second.get("/").status, 200);
  Http1Client third(server.port());
  const Http1Response refused = third.read_response();
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("its limit is 2"));
  EXPECT_EQ(server.group().stats().connections_refused, 1u);
  first->close();
  while (server.group().stats().connections_open > 1) std::this_thread::yield();
  Http1Client fourth(server.port());
  EXPECT_EQ(fourth.get("/").status, 200);
}

TEST_F(LimitsTest, RefusesHttp2ConnectionsByAGoaway) {
  TestServer::Options made = options();
  made.limits.max_connections = 1;
  made.expects_http2 = true;
  TestServer server(std::move(made));
  Http1Client first(server.port());
  EXPECT_EQ(first.get("/").status, 200);
  Http1Client second(server.port());
  const std::string answer = second.read_to_end();
  ASSERT_GT(answer.size(), 26u);
  EXPECT_EQ(answer.substr(0, 9), std::string("\0\0\0\4\0\0\0\0\0", 9));  // SETTINGS
  EXPECT_EQ(answer[12], NGHTTP2_GOAWAY);
  EXPECT_EQ(answer.size(), 18u + static_cast<unsigned char>(answer[11]));
  EXPECT_EQ(answer.substr(18, 8), std::string("\0\0\0\0\0\0\0\x0b", 8));
  EXPECT_THAT(answer, HasSubstr("its limit is 1"));
}

TEST_F(LimitsTest, WaitsWhenThereAreNoDescriptorsLeft) {
  TestServer server(options());
  // UBSan looks at an object of a new type through a pipe: those of the threads and the log before.
  log::warn("no descriptors will be left");
  EXPECT_EQ(Http1Client(server.port()).get("/").status, 200);
  while (server.group().stats().connections_open > 0) std::this_thread::yield();
  Http1Client client(server.port(), Http1Client::Connect::kLater);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  client.connect(server.port());
  while (server.group().stats().accept_errors == 0) std::this_thread::yield();
  EXPECT_EQ(server.group().stats().connections_open, 0u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.get("/").status, 200);
}

TEST_F(LimitsTest, CutsAClientThatDoesNotReadItsResponse) {
  TestServer server(options([](Exchange& exchange, TestRequest&) {
    respond_text(exchange, std::string(50 << 20, 'x'));
  }));
  Http1Client client(server.port());
  client.send(http1_request("GET", "/"));
  ASSERT_TRUE(server.log().wait_for("end /"));
  while (server.group().stats().bytes_sent == 0) std::this_thread::yield();
  Http1Client silent(server.port());
  while (server.group().stats().connections_open < 2) std::this_thread::yield();
  clock_.advance(seconds(20));
  ASSERT_TRUE(silent.closed_by_server());  // so the limits have been looked at
  EXPECT_FALSE(server.log().has("server abort /"));
  clock_.advance(seconds(20));
  EXPECT_TRUE(server.log().wait_for("server abort /"));
  EXPECT_EQ(server.group().stats().connections_abused, 1u);
}

TEST_F(LimitsTest, CutsAnHttp2ClientThatOpensNoWindowForALot) {
  TestServer::Options made = options([](Exchange& exchange, TestRequest& request) {
    respond_text(exchange, std::string(request.target == "/much" ? 4 << 20 : 200'000, 'x'));
  });
  made.limits.ping_interval = milliseconds(0);
  TestServer server(std::move(made));
  Http2Client little(server.port(), {.update_windows = false});
  Http2Client much(server.port(), {.update_windows = false});
  const auto small = little.submit("GET", "/little");
  const auto large = much.submit("GET", "/much");
  ASSERT_TRUE(little.run_until([&] { return little.response(small).body.size() == 65535; }));
  ASSERT_TRUE(much.run_until([&] { return much.response(large).body.size() == 65535; }));
  const auto limit = std::chrono::steady_clock::now() + seconds(10);
  while (!server.log().has("server abort /much") && std::chrono::steady_clock::now() < limit) {
    clock_.advance(seconds(31));
    std::this_thread::yield();
  }
  EXPECT_TRUE(server.log().has("server abort /much"));
  EXPECT_FALSE(server.log().has("server abort /little"));
}

TEST_F(LimitsTest, Answers408ToAnAnnouncedHttp2BodyThatStops) {
  TestServer server(options());
  Http2Client client(server.port());
  const auto stopped = client.submit("POST", "/s", "x", {{"content-length", "9"}}, true);
  const auto stream = client.submit("POST", "/open", "x", {}, true);
  ASSERT_TRUE(client.run_until([&] { return server.log().has("head /open"); }));
  clock_.advance(seconds(31));
  EXPECT_EQ(client.wait(stopped).status, 408);
  client.send_data(stream, "y", true);
  EXPECT_EQ(client.wait(stream).body, "xy");
}

TEST_F(LimitsTest, Answers408ToAnHttp2MessageThatTrickles) {
  TestServer::Options made = options();
  made.awaits_rest = true;
  TestServer server(std::move(made));
  Http2Client client(server.port());
  const auto slow = client.submit("POST", "/slow", "x", {}, true);
  const auto fast = client.submit("POST", "/fast", "x", {}, true);
  ASSERT_TRUE(client.run_until([&] { return server.log().has("head /fast"); }));
  advance_and_tick(server, seconds(11));
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t before = server.group().stats().bytes_received;
    client.send_data(slow, "x", false);
    client.send_data(fast, std::string(20'000, 'x'), false);
    client.send_only();
    wait_for_bytes(server, before + 20'001);
    advance_and_tick(server, seconds(20));
  }
  EXPECT_EQ(client.wait(slow).status, 408);
  client.send_data(fast, "y", true);
  EXPECT_EQ(client.wait(fast).body.size(), 40'002u);
}

TEST_F(LimitsTest, SaysGoodbyeToIdleHttp2Connections) {
  TestServer server(options());
  Http2Client client(server.port());
  EXPECT_EQ(client.post("/", "x").status, 200);
  clock_.advance(std::chrono::hours(1) + seconds(1));
  ASSERT_TRUE(client.run_until([&] { return client.goaways().size() == 1; }));
  // Without streams, nghttp2's client hears the first GOAWAY and no more.
  clock_.advance(seconds(2));
  client.run_until([&] { return client.ended(); });
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(client.goaways()[0].error, std::uint32_t{NGHTTP2_NO_ERROR});
}

TEST_F(LimitsTest, ClosesOldConnectionsOnceTheirStreamsEnd) {
  ExchangeRef work;
  TestServer::Options made =
      options([&](Exchange& exchange, TestRequest&) { work = exchange.ref(); });
  made.limits.max_connection_age = milliseconds(60'000);
  TestServer server(std::move(made));
  Http2Client client(server.port());
  const auto id = client.submit("GET", "/");
  ASSERT_TRUE(client.run_until([&] { return server.log().has("end /"); }));
  clock_.advance(seconds(61));
  ASSERT_TRUE(client.run_until([&] { return client.goaways().size() == 2; }));
  work.run([](Exchange& exchange) { respond_text(exchange, "late"); });
  EXPECT_EQ(client.wait(id).body, "late");
  client.run_until([&] { return client.ended(); });
  EXPECT_TRUE(client.ended());
}

TEST_F(LimitsTest, PingsQuietClientsAndCutsThoseWhoDoNotAnswer) {
  TestServer::Options made = options([](Exchange& exchange, TestRequest& request) {
    if (request.target == "/") respond_text(exchange, "ok");
  });
  made.limits.ping_interval = milliseconds(60'000);
  TestServer server(std::move(made));
  Http2Client alive(server.port()), dead(server.port(), {.answer_pings = false});
  for (int i = 0; i < 2; ++i) {  // so that SETTINGS have been answered as well
    EXPECT_EQ(alive.post("/", "x").status, 200);
    EXPECT_EQ(dead.post("/", "x").status, 200);
  }
  alive.submit("GET", "/alive");
  dead.submit("GET", "/dead");
  ASSERT_TRUE(alive.run_until([&] { return server.log().has("end /alive"); }));
  ASSERT_TRUE(dead.run_until([&] { return server.log().has("end /dead"); }));
  clock_.advance(seconds(61));
  ASSERT_TRUE(alive.run_until([&] { return alive.pings_received() == 1; }));
  ASSERT_TRUE(dead.run_until([&] { return dead.pings_received() == 1; }));
  const std::uint64_t before = server.group().stats().bytes_received;
  alive.send_only();  // the answer
  wait_for_bytes(server, before + 17);
  clock_.advance(seconds(21));
  EXPECT_TRUE(server.log().wait_for("server abort /dead"));
  EXPECT_FALSE(server.log().has("server abort /alive"));
}

TEST_F(LimitsTest, PingsNoMoreWithoutDataThanItMay) {
  TestServer::Options made = options([](Exchange& exchange, TestRequest& request) {
    if (request.target == "/") respond_text(exchange, "ok");
  });
  made.limits.ping_interval = milliseconds(60'000);
  made.limits.max_pings_without_data = 2;
  TestServer server(std::move(made));
  Http2Client client(server.port());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.post("/", "x").status, 200);
  client.submit("GET", "/wait");
  ASSERT_TRUE(client.run_until([&] { return server.log().has("end /wait"); }));
  for (int round = 1; round <= 2; ++round) {
    const std::uint64_t before = server.group().stats().bytes_received;
    clock_.advance(seconds(61));
    ASSERT_TRUE(client.run_until([&] { return client.pings_received() == round; }));
    client.send_only();  // the answer
    wait_for_bytes(server, before + 17);
  }
  advance_and_tick(server, seconds(61));
  EXPECT_EQ(client.post("/", "x").status, 200);
  EXPECT_EQ(client.pings_received(), 2);
}

TEST(RateGuardTest, RefillsWithTime) {
  RateGuard guard(3, 2);
  TimePoint now = TimePoint(seconds(100));
  EXPECT_TRUE(guard.take(now) && guard.take(now) && guard.take(now));
  EXPECT_FALSE(guard.take(now));
  now += milliseconds(500);
  EXPECT_TRUE(guard.take(now));
  EXPECT_FALSE(guard.take(now));
  now += seconds(100);
  EXPECT_TRUE(guard.take(now) && guard.take(now) && guard.take(now));
  EXPECT_FALSE(guard.take(now));
}

TEST(PingGuardTest, StrikesOnlyPingsThatComeTooSoonWithoutData) {
  Limits limits;
  limits.min_ping_interval = milliseconds(10'000);
  limits.max_ping_strikes = 1;
  PingGuard guard(limits);
  TimePoint now = TimePoint(seconds(100));
  EXPECT_TRUE(guard.take(now, true));
  now += seconds(11);
  EXPECT_TRUE(guard.take(now, true));
  now += seconds(1);
  EXPECT_TRUE(guard.take(now, true));  // the strike that is allowed
  guard.on_data_sent();
  EXPECT_TRUE(guard.take(now, true));
  EXPECT_TRUE(guard.take(now, true));
  EXPECT_FALSE(guard.take(now, true));
}

TEST(PingGuardTest, AllowsFewPingsWithoutStreams) {
  Limits limits;
  limits.max_ping_strikes = 1;
  PingGuard guard(limits);
  TimePoint now = TimePoint(seconds(100));
  EXPECT_TRUE(guard.take(now, false));
  now += std::chrono::hours(1);
  EXPECT_TRUE(guard.take(now, false));
  now += std::chrono::hours(1);
  EXPECT_FALSE(guard.take(now, false));
  limits.max_ping_strikes = 0;
  PingGuard any(limits);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(any.take(now, false));
}

}  // namespace
}  // namespace proa::net
