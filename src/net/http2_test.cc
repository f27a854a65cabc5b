#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fmt/core.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "net/testing/http1_client.h"
#include "net/testing/http2_client.h"
#include "net/testing/loopback.h"
#include "net/testing/test_server.h"

namespace proa::net {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Http2Test, AnswersManyRequestsOnOneConnection) {
  TestServer server;
  Http2Client client(server.port());
  for (int i = 0; i < 3; ++i) {
    const Http2Response& response = client.post("/echo", fmt::format("hello {}", i));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, fmt::format("hello {}", i));
    EXPECT_EQ(response.headers.at("content-type"), "text/plain");
    EXPECT_EQ(response.headers.at("content-length"), "7");
    EXPECT_EQ(response.error, std::uint32_t{NGHTTP2_NO_ERROR});
  }
  EXPECT_TRUE(server.log().wait_for("finished /echo"));
  EXPECT_EQ(server.group().stats().connections_accepted, 1u);
  EXPECT_EQ(server.group().stats().http2_requests, 3u);
}

TEST(Http2Test, GivesTheHandlerTheHead) {
  TestRequest seen;
  TestServer server({.answer = [&](Exchange& exchange, TestRequest& request) {
    seen = request;
    respond_text(exchange, "");
  }});
  Http2Client client(server.port());
  const auto id = client.submit("PUT", "/v2/a%20b?x=1", "body",
                                {{"content-type", "application/grpc"}, {"te", "trailers"}});
  EXPECT_EQ(client.wait(id).status, 200);
  EXPECT_EQ(seen.method, "PUT");
  EXPECT_EQ(seen.target, "/v2/a%20b?x=1");
  EXPECT_EQ(seen.authority, "test");
  EXPECT_EQ(seen.header("content-type"), "application/grpc");
  EXPECT_EQ(seen.header(":path"), "");
  EXPECT_EQ(seen.http_major, 2);
  EXPECT_EQ(seen.body, "body");
}

TEST(Http2Test, CarriesManyStreamsWithBigBodiesThroughSmallWindows) {
  TestServer server;
  Http2Client client(server.port());  // windows of 64 KiB
  std::vector<std::pair<std::int32_t, std::string>> requests;
  for (std::size_t i = 0; i < 32; ++i) {
    std::string body = pattern(500'000 + i);
    const std::int32_t id = client.submit("POST", "/echo", body);
    requests.emplace_back(id, std::move(body));
  }
  for (const auto& [id, body] : requests) {
    const Http2Response& response = client.wait(id);
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.body == body) << id;
  }
}

TEST(Http2Test, CarriesManyStreamsAnsweredByOtherThreads) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest& request) {
    std::thread([ref = exchange.ref(), body = std::move(request.body)]() mutable {
      ref.run([body = std::move(body)](Exchange& e) mutable { respond_text(e, std::move(body)); });
    }).join();
  }});
  Http2Client client(server.port(), {.stream_window = 1 << 20, .connection_window = 8 << 20});
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < 16; ++i) ids.push_back(client.submit("POST", "/", pattern(70'000)));
  for (const std::int32_t id : ids) EXPECT_TRUE(client.wait(id).body == pattern(70'000));
}

TEST(Http2Test, SendsPartsAndTrailers) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest&) {
    const Header headers[] = {{"content-type", "application/grpc"}};
    exchange.send_headers(200, headers);
    for (int i = 0; i < 3; ++i) {
      Segment parts[] = {{fmt::format("part {};", i), BufferView(Buffer::allocate(10'000))},
                         {std::string(9'000, 'x'), {}}};
      exchange.send_data(parts);
    }
    const Header trailers[] = {{"grpc-status", "0"}, {"grpc-message", "a long enough message"}};
    exchange.end(trailers);
  }});
  Http2Client client(server.port());
  const Http2Response& response = client.post("/", "x");
  EXPECT_EQ(response.body.size(), 3 * (7u + 10'000 + 9'000));
  EXPECT_EQ(response.headers.at("content-type"), "application/grpc");
  EXPECT_EQ(response.trailers.at("grpc-status"), "0");
  EXPECT_EQ(response.trailers.at("grpc-message"), "a long enough message");
}

TEST(Http2Test, SendsTrailersAloneAndAnswersToHead) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest& request) {
    if (request.method == "HEAD") return respond_text(exchange, "12345");
    const Header headers[] = {{"grpc-status", "12"}};
    exchange.respond(200, headers, {});
  }});
  Http2Client client(server.port());
  const Http2Response& alone = client.post("/", "x");
  EXPECT_EQ(alone.headers.at("grpc-status"), "12");
  EXPECT_EQ(alone.body, "");
  const Http2Response& head = client.wait(client.submit("HEAD", "/"));
  EXPECT_EQ(head.headers.at("content-length"), "5");
  EXPECT_EQ(head.body, "");
}

TEST(Http2Test, StreamsBothWaysAtOnce) {
  TestServer server(
      {.answer = [](Exchange& exchange, TestRequest&) { exchange.end({}); },
       .head = [](Exchange& exchange, const RequestHead&) { exchange.send_headers(200, {}); },
       .data =
           [](Exchange& exchange, std::span<const std::byte> data) {
             Segment parts[] = {
                 {std::string(reinterpret_cast<const char*>(data.data()), data.size()), {}}};
             exchange.send_data(parts);
           }});
  Http2Client client(server.port());
  const std::int32_t id = client.submit("POST", "/", "", {}, /*open=*/true);
  for (int i = 0; i < 3; ++i) {
    client.send_data(id, "ping;", false);
    const std::size_t wanted = 5u * (i + 1);
    EXPECT_TRUE(client.run_until([&] { return client.response(id).body.size() == wanted; }));
  }
  client.send_data(id, "", true);
  EXPECT_EQ(client.wait(id).body, "ping;ping;ping;");
}

TEST(Http2Test, StopsTheUploadAfterAnEarlyAnswer) {
  TestServer server(
      {.head = [](Exchange& exchange, const RequestHead&) { respond_text(exchange, "no", 404); }});
  Http2Client client(server.port());
  const std::int32_t id = client.submit("POST", "/no", "begin", {}, /*open=*/true);
  const Http2Response& response = client.wait(id);
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "no");
  EXPECT_TRUE(response.closed);
  EXPECT_EQ(response.error, std::uint32_t{NGHTTP2_NO_ERROR});
  EXPECT_TRUE(server.log().wait_for("finished /no"));
}

TEST(Http2Test, SaysContinueToThoseWhoExpectIt) {
  TestServer server;
  Http2Client client(server.port());
  const std::int32_t id =
      client.submit("POST", "/", "", {{"expect", "100-continue"}}, /*open=*/true);
  EXPECT_TRUE(client.run_until([&] { return client.response(id).status == 100; }));
  client.send_data(id, "body", true);
  EXPECT_EQ(client.wait(id).status, 200);
}

TEST(Http2Test, RefusesWhatIsTooLong) {
  Limits limits;
  limits.max_body_bytes = 100;
  limits.max_head_bytes = 3000;
  limits.max_target_bytes = 500;
  limits.max_headers = 20;
  TestServer server({.limits = limits});
  Http2Client client(server.port());
  const auto big = client.submit("POST", "/big", std::string(101, 'x'));
  const auto announced = client.submit("POST", "/big", "x", {{"content-length", "101"}}, true);
  const auto target = client.submit("GET", "/" + std::string(600, 'x'));
  const auto head = client.submit("GET", "/", "", {{"a", std::string(3000, 'x')}});
  const auto lines = client.submit("GET", "/", "", Http2Client::Headers(20, {"a", "b"}));
  EXPECT_EQ(client.wait(big).status, 413);
  EXPECT_THAT(client.wait(big).body, HasSubstr("{\"error\":\"the body is too long; at most 100"));
  EXPECT_EQ(client.wait(announced).status, 413);
  EXPECT_EQ(client.wait(target).status, 414);
  EXPECT_EQ(client.wait(head).status, 431);
  EXPECT_EQ(client.wait(lines).status, 431);
  EXPECT_EQ(client.post("/", "fine").body, "fine");
  EXPECT_TRUE(server.log().wait_for("server abort /big"));
}

TEST(Http2Test, TellsTheHandlerOfResetsAndOfTheEnd) {
  TestServer server({.answer = [](Exchange&, TestRequest&) {}});
  Http2Client client(server.port());
  const std::int32_t id = client.submit("POST", "/reset", "x");
  client.submit("POST", "/left", "x");
  client.run_until([&] { return server.log().has("end /left"); });
  client.reset(id);
  client.run_until([&] { return server.log().has("client reset /reset"); });
  EXPECT_FALSE(server.log().has("client reset /left"));
  client.close();
  EXPECT_TRUE(server.log().wait_for("client reset /left"));
  EXPECT_EQ(server.group().stats().streams_reset, 1u);
}

TEST(Http2Test, ResetsAStreamOnly) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest& request) {
    if (request.target == "/cut") return exchange.reset(NGHTTP2_CANCEL);
    respond_text(exchange, "ok");
  }});
  Http2Client client(server.port());
  EXPECT_EQ(client.post("/cut", "x").error, std::uint32_t{NGHTTP2_CANCEL});
  EXPECT_TRUE(server.log().wait_for("server abort /cut"));
  EXPECT_EQ(client.post("/", "x").body, "ok");
}

TEST(Http2Test, ResetsAStreamWhoseHeadersAreTooLongToSend) {
  TestServer server({.answer = [](Exchange& exchange, TestRequest& request) {
    if (request.target == "/short") return respond_text(exchange, "ok");
    const std::string value(200'000, 'x');
    const Header header{"x-long", value};
    if (request.target == "/head") return exchange.respond(200, std::span(&header, 1), {});
    exchange.send_headers(200, {});
    exchange.end(std::span(&header, 1));
  }});
  Http2Client client(server.port());
  for (const char* target : {"/head", "/trailers"}) {
    EXPECT_EQ(client.post(target, "x").error, std::uint32_t{NGHTTP2_INTERNAL_ERROR}) << target;
    EXPECT_TRUE(server.log().wait_for(fmt::format("server abort {}", target)));
  }
  EXPECT_EQ(client.post("/short", "x").body, "ok");
}

TEST(Http2Test, RefusesMoreStreamsThanAllowed) {
  Limits limits;
  limits.max_concurrent_streams = 4;
  TestServer server({.answer = [](Exchange&, TestRequest&) {}, .limits = limits});
  Http2Client client(server.port());
  // Submitted before the server's SETTINGS are known.
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(client.submit("GET", "/"));
  EXPECT_EQ(client.wait(ids[4]).error, std::uint32_t{NGHTTP2_REFUSED_STREAM});
  EXPECT_EQ(client.wait(ids[5]).error, std::uint32_t{NGHTTP2_REFUSED_STREAM});
  EXPECT_EQ(server.log().count("end /"), 4u);
}

TEST(Http2Test, RefusesStreamsWhileMuchOutputWaits) {
  Limits limits;
  limits.max_unsent_bytes = 200'000;
  TestServer server(
      {.answer = [](Exchange& exchange,
                    TestRequest&) { respond_text(exchange, std::string(150'000, 'x')); },
       .limits = limits});
  Http2Client client(server.port(), {.update_windows = false});
  const auto first = client.submit("GET", "/"), second = client.submit("GET", "/");
  client.run_until([&] { return client.response(first).body.size() > 0; });
  ASSERT_TRUE(client.run_until([&] { return server.log().count("end /") == 2; }));
  EXPECT_EQ(client.wait(client.submit("GET", "/")).error, std::uint32_t{NGHTTP2_REFUSED_STREAM});
  for (const auto id : {first, second}) {
    nghttp2_session_set_local_window_size(client.raw(), NGHTTP2_FLAG_NONE, id, 1 << 20);
  }
  nghttp2_session_set_local_window_size(client.raw(), NGHTTP2_FLAG_NONE, 0, 1 << 20);
  EXPECT_EQ(client.wait(first).body.size(), 150'000u);
  EXPECT_EQ(client.wait(second).body.size(), 150'000u);
  EXPECT_EQ(client.wait(client.submit("HEAD", "/")).status, 200);
}

TEST(Http2Test, CountsWorkOfResetStreamsAsStreams) {
  Limits limits;
  limits.max_concurrent_streams = 4;
  std::vector<ExchangeRef> work;
  TestServer server({.answer =
                         [&](Exchange& exchange, TestRequest& request) {
                           if (request.target == "/work") return work.push_back(exchange.ref());
                           respond_text(exchange, "ok");
                         },
                     .limits = limits});
  Http2Client client(server.port());
  for (int i = 1; i <= 4; ++i) {
    const std::int32_t id = client.submit("GET", "/work");
    client.send_only();
    const std::size_t before = server.log().count("client reset /work");
    client.run_until([&] { return server.log().count("end /work") == std::size_t(i); });
    client.reset(id);
    client.run_until([&] { return server.log().count("client reset /work") > before; });
  }
  EXPECT_EQ(client.post("/next", "x").error, std::uint32_t{NGHTTP2_REFUSED_STREAM});
  server.group().loop(0).post([&] {
    work.clear();
    server.log().add("work done");
  });
  ASSERT_TRUE(server.log().wait_for("work done"));
  EXPECT_EQ(client.post("/next", "x").body, "ok");
}

TEST(Http2Test, ExpelsClientsThatResetTooOften) {
  Limits limits;
  limits.reset_burst = 20;
  limits.resets_per_second = 0;
  TestServer server({.answer = [](Exchange&, TestRequest&) {}, .limits = limits});
  Http2Client client(server.port());
  for (int i = 0; i < 30 && !client.ended(); ++i) {
    const std::int32_t id = client.submit("GET", "/");
    const std::size_t wanted = server.log().count("end /") + 1;
    client.run_until([&] { return server.log().count("end /") == wanted || client.ended(); });
    client.reset(id);
    client.send_only();
  }
  client.run_until([&] { return client.ended(); });
  ASSERT_EQ(client.goaways().size(), 1u);
  EXPECT_EQ(client.goaways()[0].error, std::uint32_t{NGHTTP2_ENHANCE_YOUR_CALM});
  EXPECT_EQ(client.goaways()[0].debug, "too_many_resets");
  EXPECT_EQ(server.group().stats().connections_abused, 1u);
}

TEST(Http2Test, ExpelsClientsThatPingTooOften) {
  TestServer server;
  Http2Client client(server.port());
  EXPECT_EQ(client.post("/", "x").status, 200);
  for (int i = 0; i < 3; ++i) client.ping();  // the first is free, two are strikes
  EXPECT_TRUE(client.run_until([&] { return client.pongs_received() == 3; }));
  EXPECT_EQ(client.post("/", "x").status, 200);  // forgives
  for (int i = 0; i < 4; ++i) client.ping();
  client.run_until([&] { return client.ended(); });
  ASSERT_EQ(client.goaways().size(), 1u);
  EXPECT_EQ(client.goaways()[0].error, std::uint32_t{NGHTTP2_ENHANCE_YOUR_CALM});
  EXPECT_EQ(client.goaways()[0].debug, "too_many_pings");
}

TEST(Http2Test, ExpelsClientsThatFloodWithSettings) {
  Limits limits;
  limits.control_burst = 50;
  limits.control_frames_per_second = 0;
  TestServer server({.limits = limits});
  Http2Client client(server.port());
  for (int i = 0; i < 100; ++i) {
    nghttp2_submit_settings(client.raw(), NGHTTP2_FLAG_NONE, nullptr, 0);
    client.send_only();
  }
  client.run_until([&] { return client.ended(); });
  ASSERT_EQ(client.goaways().size(), 1u);
  EXPECT_EQ(client.goaways()[0].debug, "too_many_control_frames");
}

// A frame of up to 16 MiB.
std::string http2_frame(std::uint8_t type, std::uint8_t flags, std::uint8_t stream,
                        std::string_view payload) {
  std::string frame(9, '\0');
  for (std::size_t i = 0; i < 3; ++i) frame[i] = static_cast<char>(payload.size() >> (16 - 8 * i));
  frame[3] = static_cast<char>(type);
  frame[4] = static_cast<char>(flags);
  frame[8] = static_cast<char>(stream);
  return frame.append(payload);
}

TEST(Http2Test, ExpelsClientsWhoseHeadersUnpackToFarMoreThanAllowed) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + http2_frame(4, 0, 0, "");
  const std::string head = "\x82\x84\x86\x01\x01t";
  // A field of 3000 bytes that goes into HPACK's table, and 1000 mentions of it.
  const std::string bomb =
      std::string("\x40\x01x\x7f\xb9\x16", 6) + std::string(3000, 'a') + std::string(1000, '\xbe');
  const std::string messages[] = {
      preface + http2_frame(1, 5, 1, head + bomb),
      // In trailers.
      preface + http2_frame(1, 4, 1, head) + http2_frame(1, 5, 1, bomb),
  };
  for (const std::string& message : messages) {
    TestServer server;
    Http1Client client(server.port());
    ASSERT_TRUE(client.send(message));
    EXPECT_THAT(client.read_to_end(), HasSubstr("head_too_long"));
    EXPECT_EQ(server.group().stats().connections_abused, 1u);
  }
}

TEST(Http2Test, ReadsNothingMoreFromAClientThatNghttp2CallsAFlood) {
  Limits limits;
  limits.control_burst = 1'000'000;
  TestServer server({.limits = limits});
  Http1Client client(server.port());
  // More answers in one go than nghttp2 will queue; what it would read next is half a frame.
  std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (int i = 0; i < 3000; ++i) bytes += http2_frame(4, 0, 0, "");
  ASSERT_TRUE(client.send(bytes));
  EXPECT_THAT(client.read_to_end(), HasSubstr(nghttp2_strerror(NGHTTP2_ERR_FLOODED)));
  EXPECT_EQ(server.group().stats().connections_abused, 1u);
}

TEST(Http2Test, GivesTheClientWindowOnlyAsTheHandlerConsumes) {
  Limits limits;
  limits.stream_window_bytes = 100'000;
  limits.max_body_bytes = 300'000;  // for bodies that a handler gathers
  std::atomic<std::size_t> got = 0;
  ExchangeRef ref;
  TestServer server(
      {.answer = [&](Exchange& exchange, TestRequest&) { respond_text(exchange, "done"); },
       .limits = limits,
       .manual_flow_control = true,
       .head = [&](Exchange& exchange, const RequestHead&) { ref = exchange.ref(); },
       .data = [&](Exchange&, std::span<const std::byte> data) { got += data.size(); }});
  Http2Client client(server.port());
  client.post("/warm", "");  // the client knows the window now
  got = 0;
  const std::int32_t id = client.submit("POST", "/", std::string(1'000'000, 'x'));
  std::size_t consumed = 0;
  while (consumed < 1'000'000) {
    const std::size_t wanted = std::min<std::size_t>(consumed + 100'000, 1'000'000);
    ASSERT_TRUE(client.run_until([&] { return got >= wanted; }));
    EXPECT_EQ(got, wanted);
    ref.run([n = wanted - consumed](Exchange& exchange) { exchange.consume(n); });
    consumed = wanted;
  }
  EXPECT_EQ(client.wait(id).body, "done");
}

TEST(Http2Test, TellsTheHandlerWhenTheClientHasTakenItsOutput) {
  std::atomic<std::size_t> unsent = 0;
  TestServer server({.answer = [&](Exchange& exchange, TestRequest&) {
    exchange.send_headers(200, {});
    Segment parts[] = {{std::string(1'000'000, 'x'), {}}};
    exchange.send_data(parts);
    unsent = exchange.unsent_bytes();
  }});
  Http2Client client(server.port(), {.update_windows = false});
  const std::int32_t id = client.submit("POST", "/", "x");
  EXPECT_TRUE(client.run_until([&] { return client.response(id).body.size() == 65535; }));
  EXPECT_EQ(unsent, 1'000'000u);
  EXPECT_FALSE(server.log().has("writable /"));
  // All but what is below the low-water mark.
  std::size_t taken = 65535;
  while (taken < 1'000'000 - Limits().low_water_bytes) {
    nghttp2_session_consume(client.raw(), id, 65535);
    taken = std::min<std::size_t>(taken + 65535, 1'000'000);
    ASSERT_TRUE(client.run_until([&] { return client.response(id).body.size() == taken; }));
  }
  EXPECT_TRUE(server.log().wait_for("writable /"));
}

}  // namespace
}  // namespace proa::net
