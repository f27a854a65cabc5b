// Ports, and the end of a server.
#include "net/loop_group.h"

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/manual_clock.h"
#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/testing/http1_client.h"
#include "net/testing/http2_client.h"
#include "net/testing/test_server.h"

namespace proa::net {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TimePoint soon() { return steady_clock().now() + seconds(10); }

ListenerOptions on_port(std::uint16_t port, std::string address = "127.0.0.1") {
  ListenerOptions options;
  options.name = "metrics";
  options.flag = "--metrics-port";
  options.address = std::move(address);
  options.port = port;
  options.factory = [](const RequestHead&) { return nullptr; };
  return options;
}

TEST(ListenerTest, NamesThePortThatIsTakenAndTheFlag) {
  TestServer server;
  LoopGroup group({.loops = 2});
  const auto taken = group.listen(on_port(server.port()));
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(taken.error().message,
              HasSubstr(fmt::format("metrics port {} on 127.0.0.1 is in use", server.port())));
  EXPECT_THAT(taken.error().message, HasSubstr("--metrics-port"));
}

TEST(ListenerTest, RefusesAddressesItCannotOpen) {
  LoopGroup group({.loops = 1});
  EXPECT_THAT(group.listen(on_port(0, "no-such-host")).error().message,
              HasSubstr("'no-such-host' is not an IPv4 or IPv6 address"));
  EXPECT_THAT(group.listen(on_port(0, "203.0.113.7")).error().message,
              HasSubstr("no such address"));
}

TEST(ListenerTest, ListensOnIpv6AndLocalhost) {
  LoopGroup group({.loops = 1});
  EXPECT_TRUE(group.listen(on_port(0, "localhost")).has_value());
  const auto v6 = group.listen(on_port(0, "::1"));
  if (!v6) GTEST_SKIP() << v6.error().message;
  EXPECT_GT((*v6)->port(), 0);
}

TEST(ListenerTest, SharesOnePortAmongLoops) {
  std::array<std::atomic<int>, 2> served{};
  TestServer server({.answer =
                         [&](Exchange& exchange, TestRequest&) {
                           ++served[exchange.loop().index()];
                           respond_text(exchange, "ok");
                         },
                     .loops = 2});
  for (int i = 0; i < 64; ++i) {
    Http1Client client(server.port());
    EXPECT_EQ(client.get("/").body, "ok");
  }
  EXPECT_GT(served[0], 0);
  EXPECT_GT(served[1], 0);
  EXPECT_EQ(served[0] + served[1], 64);
}

TEST(ListenerTest, StopsAcceptingAndServesOn) {
  TestServer server({.loops = 2});
  Http1Client client(server.port());
  EXPECT_EQ(client.get("/").status, 200);
  server.listener().stop_accepting();
  EXPECT_EQ(client.get("/").status, 200);
  LoopGroup other({.loops = 1});
  EXPECT_TRUE(other.listen(on_port(server.port())).has_value()) << "the port must be free again";
}

// Answers when the test says so.
struct Held {
  TestServer::Options options() {
    TestServer::Options made;
    made.answer = [this](Exchange& exchange, TestRequest& request) {
      if (request.target != "/hold") return respond_text(exchange, "ok");
      ref = exchange.ref();
      server.log().add("held");
    };
    made.group.clock = &clock;
    return made;
  }
  ManualClock clock;
  ExchangeRef ref;
  TestServer server{options()};
  void answer() {
    ref.run([](Exchange& exchange) { respond_text(exchange, "late"); });
  }
};

TEST(DrainTest, ClosesIdleConnectionsAndLetsRunningOnesAnswer) {
  Held held;
  Http1Client idle(held.server.port()), fresh(held.server.port()), busy(held.server.port());
  EXPECT_EQ(idle.get("/").status, 200);
  busy.send(http1_request("GET", "/hold"));
  ASSERT_TRUE(held.server.log().wait_for("held"));
  auto cut = std::async(std::launch::async, [&] { return held.server.group().drain(soon()); });
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_TRUE(fresh.closed_by_server());
  held.answer();
  const Http1Response response = busy.read_response();
  EXPECT_EQ(response.body, "late");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(busy.closed_by_server());
  EXPECT_EQ(cut.get(), 0u);
  EXPECT_EQ(held.server.group().stats().connections_open, 0u);
}

TEST(DrainTest, ServesRequestsThatCameBeforeIt) {
  Held held;
  Http1Client known(held.server.port()), fresh(held.server.port());
  EXPECT_EQ(known.get("/").status, 200);
  while (held.server.group().stats().connections_open < 2) std::this_thread::yield();
  // Both requests are in the sockets before the loop gets to read them.
  std::promise<void> sent;
  held.server.group().loop(0).post([&] { sent.get_future().wait(); });
  known.send(http1_request("GET", "/"));
  fresh.send(http1_request("GET", "/"));
  auto cut = std::async(std::launch::async, [&] { return held.server.group().drain(soon()); });
  sent.set_value();
  EXPECT_EQ(known.read_response().body, "ok");
  EXPECT_EQ(fresh.read_response().body, "ok");
  EXPECT_EQ(cut.get(), 0u);
}

TEST(DrainTest, SaysGoodbyeInTwoStepsAndEndsStreams) {
  Held held;
  Http2Client client(held.server.port());
  const std::int32_t id = client.submit("GET", "/hold");
  ASSERT_TRUE(client.run_until([&] { return held.server.log().has("held"); }));
  auto cut = std::async(std::launch::async, [&] { return held.server.group().drain(soon()); });
  ASSERT_TRUE(client.run_until([&] { return client.goaways().size() == 2; }));
  EXPECT_EQ(client.goaways()[0].last_stream, INT32_MAX);
  EXPECT_EQ(client.goaways()[1].last_stream, id);
  EXPECT_EQ(client.goaways()[1].error, std::uint32_t{NGHTTP2_NO_ERROR});
  held.answer();
  EXPECT_EQ(client.wait(id).body, "late");
  client.run_until([&] { return client.ended(); });
  client.close();
  EXPECT_EQ(cut.get(), 0u);
}

TEST(DrainTest, SendsTheSecondGoodbyeToClientsThatDoNotAnswerPings) {
  Held held;
  Http2Client client(held.server.port(), {.answer_pings = false});
  const std::int32_t id = client.submit("GET", "/hold");
  ASSERT_TRUE(client.run_until([&] { return held.server.log().has("held"); }));
  auto cut = std::async(std::launch::async, [&] { return held.server.group().drain(soon()); });
  ASSERT_TRUE(client.run_until([&] { return client.goaways().size() == 1; }));
  held.clock.advance(seconds(2));
  EXPECT_TRUE(client.run_until([&] { return client.goaways().size() == 2; }));
  held.answer();
  EXPECT_EQ(client.wait(id).body, "late");
  client.close();
  EXPECT_EQ(cut.get(), 0u);
}

TEST(DrainTest, CutsWhatIsLeftAtTheDeadline) {
  Held held;
  Http1Client client(held.server.port());
  client.send(http1_request("GET", "/hold"));
  ASSERT_TRUE(held.server.log().wait_for("held"));
  EXPECT_EQ(held.server.group().drain(steady_clock().now() + std::chrono::milliseconds(20)), 1u);
  EXPECT_TRUE(held.server.log().has("server abort /hold"));
  EXPECT_TRUE(client.closed_by_server());
  held.answer();  // finds nobody
}

TEST(DrainTest, DestroysAGroupWithOpenConnections) {
  std::vector<std::unique_ptr<Http1Client>> clients;
  {
    Held held;
    for (int i = 0; i < 10; ++i) {
      clients.push_back(std::make_unique<Http1Client>(held.server.port()));
    }
    clients[0]->send(http1_request("GET", "/hold"));
    ASSERT_TRUE(held.server.log().wait_for("held"));
    held.ref = ExchangeRef();
  }
  EXPECT_TRUE(clients[0]->closed_by_server());
}

}  // namespace
}  // namespace proa::net
