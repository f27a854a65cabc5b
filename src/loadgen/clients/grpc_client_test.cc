#include "loadgen/clients/grpc_client.h"

#include <deque>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

// One worker's client.
class GrpcClientTest : public ::testing::Test, private ExchangeSink {
 protected:
  GrpcClientTest() {
    set_.model.name = "m";
    set_.payloads.resize(1);
    set_.streams = {{0, 1}};
    EXPECT_TRUE(loop_.open());
  }

  void connect(const Address& address) {
    auto target = make_grpc_target(address, {&set_}, {});
    ASSERT_TRUE(target);
    target_ = std::move(*target);
    client_ = target_->make_client(loop_, *this);
  }

  Exchange& start() {
    Exchange& exchange = exchanges_.emplace_back();
    client_->start(exchange);
    return exchange;
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

TEST_F(GrpcClientTest, AnAddressThatCannotBeConnectedToFailsAtOnce) {
  connect({.authority = "nowhere:1", .prefix = ""});  // of no family: no socket is made for it
  client_->prepare(8);
  EXPECT_TRUE(client_->prepared());
  for (std::size_t i = 1; i <= 3; ++i) {
    const Exchange& exchange = start();
    ASSERT_EQ(finished_, i);
    ASSERT_NE(exchange.failure, nullptr);
    EXPECT_EQ(exchange.failure->kind, "connection failed");
    EXPECT_THAT(exchange.failure->message, ::testing::HasSubstr("no further socket"));
  }
  EXPECT_GT(client_->ready_at(), exchanges_.back().done);
}

TEST_F(GrpcClientTest, ARequestThatMeetsAFailingConnectDoesNotWait) {
  connect({.authority = "nowhere:1", .prefix = ""});
  const Exchange& first = start();  // nothing was prepared: it is the one that finds out
  EXPECT_EQ(finished_, 1U);
  ASSERT_NE(first.failure, nullptr);
}

}  // namespace
}  // namespace proa::loadgen
