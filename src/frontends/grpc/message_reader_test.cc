#include "frontends/grpc/message_reader.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

std::string framed(std::string_view message, char flag = 0) {
  std::string out(1, flag);
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(message.size() >> shift & 0xff);
  }
  return out.append(message);
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const BufferView& view) {
  return {reinterpret_cast<const char*>(view.data()), view.size};
}

struct MessageReaderTest : ::testing::Test {
  core::MemoryBudget budget{1 << 20};
  MessageReader reader{host_memory(), budget, 1000};
  std::vector<std::string> messages;

  Status feed(std::string_view text) {
    auto data = bytes_of(text);
    while (!data.empty()) {
      PROA_ASSIGN(const std::size_t used, reader.read(data));
      data = data.subspan(used);
      if (reader.complete()) messages.push_back(text_of(reader.take().bytes));
    }
    return {};
  }
};

TEST_F(MessageReaderTest, PutsMessagesTogetherHoweverTheyAreCut) {
  const std::string body = framed("hello") + framed("") + framed(std::string(300, 'x'));
  for (std::size_t first = 0; first <= body.size(); ++first) {
    for (const std::size_t second : {first, (first + body.size()) / 2, body.size()}) {
      messages.clear();
      ASSERT_TRUE(feed(std::string_view(body).substr(0, first)));
      ASSERT_TRUE(feed(std::string_view(body).substr(first, second - first)));
      ASSERT_TRUE(feed(std::string_view(body).substr(second)));
      ASSERT_EQ(messages.size(), 3u);
      EXPECT_EQ(messages[0], "hello");
      EXPECT_EQ(messages[1], "");
      EXPECT_EQ(messages[2], std::string(300, 'x'));
      EXPECT_TRUE(reader.at_boundary());
    }
  }
}

TEST_F(MessageReaderTest, KnowsThatAMessageIsCutShort) {
  ASSERT_TRUE(feed(std::string_view(framed("hello")).substr(0, 7)));
  EXPECT_FALSE(reader.at_boundary());
  EXPECT_FALSE(reader.complete());
  EXPECT_TRUE(messages.empty());
}

TEST_F(MessageReaderTest, TellsCompressedMessages) {
  const std::string body = framed("zip", 1);
  ASSERT_EQ(*reader.read(bytes_of(body)), body.size());
  ASSERT_TRUE(reader.complete());
  EXPECT_TRUE(reader.take().compressed);
}

TEST_F(MessageReaderTest, RefusesALargeMessageByItsPrefix) {
  const Status status = feed(std::string_view("\0\0\0\x03\xe9", 5));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
  EXPECT_NE(status.error().message.find("1001 vs. 1000"), std::string::npos);
}

TEST_F(MessageReaderTest, RefusesAnUnknownFlag) {
  const Status status = feed(framed("x", 2));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInternal);
}

TEST_F(MessageReaderTest, GivesTheShareOfTheBudgetWithTheMessage) {
  const std::string body = framed("hello");
  ASSERT_TRUE(reader.read(bytes_of(body)));
  {
    const MessageReader::Message message = reader.take();
    EXPECT_EQ(message.memory.bytes(), 5u + MessageReader::kOverhead);
    EXPECT_EQ(budget.used(), 5u + MessageReader::kOverhead);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST_F(MessageReaderTest, CountsWhatEmptyMessagesCost) {
  const std::string empty = framed("");
  const std::size_t most = budget.limit() / MessageReader::kOverhead;
  std::vector<MessageReader::Message> waiting;
  for (std::size_t i = 0; i < most; ++i) {
    ASSERT_TRUE(reader.read(bytes_of(empty))) << i;
    waiting.push_back(reader.take());
  }
  const auto refused = reader.read(bytes_of(empty));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace proa::frontends
