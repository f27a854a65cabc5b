#include "frontends/grpc/grpc_call.h"

#include <string>
#include <vector>

#include "base/testing/manual_clock.h"
#include "frontends/testing/exchange_driver.h"
#include "frontends/testing/grpc_frames.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sends every message back; "fail" fails the call.
class EchoCall final : public GrpcCall {
 public:
  EchoCall(const FrontendContext& context, TimePoint& deadline)
      : GrpcCall(context, kControlMessageBytes), deadline_seen_(deadline) {}

 protected:
  Status on_message(Message message) override {
    deadline_seen_ = deadline();
    const std::string text(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size);
    if (text == "fail") return error::not_found("no 100% match: \xc3\xa4");
    net::Segment parts[] = {{std::string(kPrefixRoom) + "echo ", {}}, {"", message.bytes}};
    send_message(parts);
    return {};
  }
  Status on_half_close() override {
    finish({});
    return {};
  }

 private:
  TimePoint& deadline_seen_;
};

struct GrpcCallTest : ::testing::Test {
  GrpcCallTest() { loop.poll(); }

  ExchangeDriver call(std::vector<std::pair<std::string, std::string>> headers = {}) {
    const net::HandlerFactory factory = [this](const net::RequestHead&) {
      return std::make_unique<EchoCall>(context, deadline);
    };
    return ExchangeDriver(loop, factory, {"POST", "/test", std::move(headers), 2});
  }

  static std::vector<std::string> messages(const ExchangeDriver& call) {
    std::vector<std::string> texts;
    for (const GrpcFrame& frame : parse_grpc_frames(call.exchange.body)) {
      EXPECT_FALSE(frame.compressed);
      texts.push_back(frame.message);
    }
    return texts;
  }

  ManualClock clock;
  core::MemoryBudget budget{1 << 20};
  net::EventLoop loop;
  FrontendContext context{.budget = &budget, .memory = &host_memory(), .clock = &clock};
  TimePoint deadline = kNever;
};

TEST_F(GrpcCallTest, AnswersMessagesHoweverTheyAreCut) {
  const std::string body = grpc_frame("a") + grpc_frame("") + grpc_frame("longer");
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    auto call = this->call();
    call.data(body.substr(0, cut));
    call.data(body.substr(cut));
    call.end();
    EXPECT_EQ(call.exchange.status, 200);
    EXPECT_EQ(call.header("content-type"), "application/grpc");
    EXPECT_THAT(messages(call), ElementsAre("echo a", "echo ", "echo longer"));
    EXPECT_EQ(call.trailer("grpc-status"), "0");
  }
}

TEST_F(GrpcCallTest, FailsByTrailersOnlyBeforeTheFirstAnswer) {
  auto call = this->call();
  call.data(grpc_frame("fail"));
  EXPECT_TRUE(call.exchange.ended);
  EXPECT_EQ(call.exchange.body, "");
  EXPECT_TRUE(call.exchange.trailers.empty());
  EXPECT_EQ(call.header("grpc-status"), "5");
  EXPECT_EQ(call.header("grpc-message"), "no 100%25 match: %C3%A4");
}

TEST_F(GrpcCallTest, FailsByTrailersAfterAnAnswer) {
  auto call = this->call();
  call.data(grpc_frame("a") + grpc_frame("fail") + grpc_frame("b"));
  EXPECT_THAT(messages(call), ElementsAre("echo a"));
  EXPECT_EQ(call.trailer("grpc-status"), "5");
}

TEST_F(GrpcCallTest, TurnsTheTimeoutIntoADeadline) {
  auto call = this->call({{"grpc-timeout", "250m"}});
  call.data(grpc_frame("a"));
  EXPECT_EQ(deadline, clock.now() + std::chrono::milliseconds(250));
  auto without = this->call();
  without.data(grpc_frame("a"));
  EXPECT_EQ(deadline, kNever);
}

TEST_F(GrpcCallTest, RefusesAMalformedTimeout) {
  auto call = this->call({{"grpc-timeout", "soon"}});
  EXPECT_TRUE(call.exchange.ended);
  EXPECT_EQ(call.trailer("grpc-status"), "3");
}

TEST_F(GrpcCallTest, UnpacksCompressedMessages) {
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    std::string packed;
    const auto plain = bytes_of("hello hello");
    compress(std::span(&plain, 1), encoding, 6, packed);
    auto call = this->call({{"grpc-encoding", std::string(encoding_name(encoding))}});
    call.data(grpc_frame(packed, true) + grpc_frame("plain"));
    EXPECT_THAT(messages(call), ElementsAre("echo hello hello", "echo plain"));
  }
}

TEST_F(GrpcCallTest, RefusesUnknownEncodingsAndNamesTheKnownOnes) {
  auto call = this->call({{"grpc-encoding", "snappy"}});
  EXPECT_EQ(call.trailer("grpc-status"), "12");
  EXPECT_EQ(call.header("grpc-accept-encoding"), "identity,deflate,gzip");
}

TEST_F(GrpcCallTest, RefusesACompressedMessageWithoutAnEncoding) {
  auto call = this->call();
  call.data(grpc_frame("x", true));
  EXPECT_EQ(call.trailer("grpc-status"), "13");
}

TEST_F(GrpcCallTest, StopsACompressedMessageThatGrowsTooLarge) {
  context.options.grpc_max_message_bytes = 10'000;
  std::string packed;
  const std::string zeros(100'000, '\0');
  const auto plain = bytes_of(zeros);
  compress(std::span(&plain, 1), Encoding::kGzip, 6, packed);
  auto call = this->call({{"grpc-encoding", "gzip"}});
  call.data(grpc_frame(packed, true));
  EXPECT_EQ(call.trailer("grpc-status"), "8");
  EXPECT_THAT(*call.trailer("grpc-message"), HasSubstr("--grpc-max-message-size"));
}

TEST_F(GrpcCallTest, PacksAnswersWhereConfiguredAndAccepted) {
  context.options.grpc_response_compression = CompressionLevel::kLow;
  auto call = this->call({{"grpc-accept-encoding", "identity, gzip"}});
  call.data(grpc_frame("tell"));
  EXPECT_EQ(call.header("grpc-encoding"), "gzip");
  const auto frames = parse_grpc_frames(call.exchange.body);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_TRUE(frames[0].compressed);
  MessageBuffer plain(host_memory(), budget);
  ASSERT_TRUE(decompress(bytes_of(frames[0].message), 100, "", plain));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(plain.bytes().data()), plain.size()),
            "echo tell");

  auto refused = this->call({{"grpc-accept-encoding", "identity"}});
  refused.data(grpc_frame("tell"));
  EXPECT_EQ(refused.header("grpc-encoding"), std::nullopt);
  EXPECT_THAT(messages(refused), ElementsAre("echo tell"));
}

TEST_F(GrpcCallTest, SaysWhenTheBodyEndsInsideAMessage) {
  auto call = this->call();
  call.data(grpc_frame("hello").substr(0, 8));
  call.end();
  EXPECT_EQ(call.trailer("grpc-status"), "13");
}

TEST_F(GrpcCallTest, SaysWhenTheBudgetIsUsedUp) {
  const auto taken = budget.reserve(budget.limit());
  auto call = this->call();
  call.data(grpc_frame("hello"));
  EXPECT_EQ(call.trailer("grpc-status"), "14");
  EXPECT_THAT(*call.trailer("grpc-message"), HasSubstr("--max-in-flight-bytes"));
}

TEST_F(GrpcCallTest, GivesItsMemoryBackWhenTheClientGoes) {
  auto call = this->call();
  call.data(grpc_frame(std::string(5000, 'x')).substr(0, 3000));
  EXPECT_GT(budget.used(), 0u);
  call.close(net::CloseReason::kClientReset);
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace proa::frontends
