#include "loadgen/clients/http_client.h"

#include <deque>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loadgen/testing/scripted_peer.h"

namespace proa::loadgen {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

// One worker's client against a scripted peer.
class HttpClientTest : public ::testing::Test, private ExchangeSink {
 protected:
  HttpClientTest() {
    set_.model.name = "m";
    set_.payloads.resize(1);
    set_.streams = {{0, 1}};
    EXPECT_TRUE(loop_.open());
  }

  void connect(const std::string& url, std::size_t max_connections = 100) {
    const auto address = resolve(url, "1");
    ASSERT_TRUE(address) << address.error().message;
    HttpTargetOptions options;
    options.max_connections = max_connections;
    auto target = make_http_target(*address, {&set_}, options);
    ASSERT_TRUE(target);
    target_ = std::move(*target);
    client_ = target_->make_client(loop_, *this);
  }

  Exchange& start() {
    Exchange& exchange = exchanges_.emplace_back();
    client_->start(exchange);
    return exchange;
  }

  void run_until_finished(std::size_t count) {
    const TimePoint limit = steady_clock().now() + std::chrono::seconds(20);
    while (finished_ < count && steady_clock().now() < limit) loop_.run_once(limit);
    ASSERT_EQ(finished_, count);
  }

  PayloadSet set_;
  Loop loop_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<Client> client_;
  std::deque<Exchange> exchanges_;
  std::size_t finished_ = 0;

 private:
  void finished(Exchange&) override { ++finished_; }
};

TEST_F(HttpClientTest, KeepsTheConnectionAndTellsWhatHappened) {
  const ScriptedPeer peer({[](int connection) {
    ScriptedPeer::answer(connection, kOk);
    ScriptedPeer::answer(connection,
                         "HTTP/1.1 503 Busy\r\nContent-Length: 16\r\n\r\n{\"error\":\"full\"}");
  }});
  connect(peer.url());
  const Exchange& good = start();
  run_until_finished(1);
  EXPECT_EQ(good.failure, nullptr);
  EXPECT_EQ(good.responses, 1U);
  EXPECT_LE(good.sent, good.sent_all);
  EXPECT_LE(good.sent_all, good.first_byte);
  EXPECT_LE(good.first_byte, good.done);
  EXPECT_EQ(good.bytes_received, kOk.size());
  const Exchange& bad = start();
  run_until_finished(2);
  ASSERT_NE(bad.failure, nullptr);
  EXPECT_EQ(bad.failure->kind, "HTTP 503");
  EXPECT_EQ(bad.failure->message, "full");
  EXPECT_EQ(client_->statistics().connections, 1U);
}

TEST_F(HttpClientTest, AConnectionThatWasClosedWhileIdleIsReplacedUnnoticed) {
  const auto once = [](int connection) { ScriptedPeer::answer(connection, kOk); };
  const ScriptedPeer peer({once, once});
  connect(peer.url());
  start();
  run_until_finished(1);
  const Exchange& second = start();
  run_until_finished(2);
  EXPECT_EQ(second.failure, nullptr) << second.failure->message;
  EXPECT_EQ(client_->statistics().reconnects, 1U);
}

TEST_F(HttpClientTest, AnAnswerThatBreaksOffIsAFailure) {
  const ScriptedPeer peer({[](int connection) {
    ScriptedPeer::answer(connection, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf");
  }});
  connect(peer.url());
  const Exchange& exchange = start();
  run_until_finished(1);
  ASSERT_NE(exchange.failure, nullptr);
  EXPECT_THAT(exchange.failure->message, HasSubstr("within the answer"));
}

TEST_F(HttpClientTest, NobodyThereFailsAndIsNotTriedAgainAtOnce) {
  std::string url;
  {
    const ScriptedPeer gone({});
    url = gone.url();
  }
  connect(url);
  const Exchange& first = start();
  run_until_finished(1);
  ASSERT_NE(first.failure, nullptr);
  EXPECT_EQ(first.failure->kind, "connection refused");
  EXPECT_GT(client_->ready_at(), first.done);
  const Exchange& second = start();  // at once, without a further attempt
  EXPECT_EQ(finished_, 2U);
  EXPECT_EQ(second.failure->kind, "connection refused");
}

TEST_F(HttpClientTest, BeyondTheConnectionsRequestsWaitAndCanBeGivenUp) {
  const ScriptedPeer peer({[](int connection) {
    ScriptedPeer::answer(connection, kOk);
    ScriptedPeer::answer(connection, kOk);
  }});
  connect(peer.url(), 1);
  start();
  start();
  Exchange& third = start();
  client_->cancel(third, {"timeout", "no answer"});
  EXPECT_EQ(third.failure->kind, "timeout");
  run_until_finished(3);
  EXPECT_EQ(exchanges_[1].failure, nullptr);
  EXPECT_EQ(client_->statistics().connections, 1U);
}

}  // namespace
}  // namespace proa::loadgen
