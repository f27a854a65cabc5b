#include "frontends/message_buffer.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

TEST(MessageBufferTest, TakesASmallAnnouncedMessageInOneExactBlock) {
  core::MemoryBudget budget(kMiB);
  MessageBuffer buffer(host_memory(), budget);
  buffer.start(300);
  ASSERT_TRUE(buffer.append(pattern(300)));
  EXPECT_EQ(budget.used(), 300u);
  const BufferView view = buffer.take();
  EXPECT_EQ(view.buffer.size(), 300u);
  EXPECT_TRUE(same(view.bytes(), pattern(300)));
}

TEST(MessageBufferTest, HoldsLittleWhenMuchIsAnnouncedAndLittleComes) {
  core::MemoryBudget budget(kMiB);
  MessageBuffer buffer(host_memory(), budget);
  buffer.start(std::size_t{1} << 31);
  EXPECT_EQ(budget.used(), 0u);
  ASSERT_TRUE(buffer.append(pattern(10)));
  EXPECT_LE(budget.used(), MessageBuffer::kSmall);
  EXPECT_LE(buffer.take().buffer.size(), MessageBuffer::kSmall);
}

TEST(MessageBufferTest, GrowsWithWhatComesAndKeepsTheBytes) {
  core::MemoryBudget budget(64 * kMiB);
  MessageBuffer buffer(host_memory(), budget);
  const auto all = pattern(3 * kMiB + 17);
  buffer.start(all.size());
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t step = std::min<std::size_t>(16384, all.size() - at);
    ASSERT_TRUE(buffer.append(std::span(all).subspan(at, step)));
    at += step;
  }
  EXPECT_TRUE(same(buffer.bytes(), all));
  EXPECT_EQ(budget.used(), all.size());
  EXPECT_EQ(buffer.take().buffer.size(), all.size());
}

TEST(MessageBufferTest, GathersAMessageOfUnknownLength) {
  core::MemoryBudget budget(64 * kMiB);
  MessageBuffer buffer(host_memory(), budget);
  const auto all = pattern(kMiB);
  buffer.start(std::nullopt);
  for (std::size_t at = 0; at < all.size(); at += 4096) {
    ASSERT_TRUE(buffer.append(std::span(all).subspan(at, 4096)));
  }
  EXPECT_TRUE(same(buffer.take().bytes(), all));
}

TEST(MessageBufferTest, GivesRoomForReadingInPlace) {
  core::MemoryBudget budget(kMiB);
  MessageBuffer buffer(host_memory(), budget);
  buffer.start(600'000, kMiB);
  const auto room = buffer.room(600'000);
  ASSERT_TRUE(room);
  EXPECT_EQ(room->size(), 600'000u);
  const std::byte* const begin = room->data();
  buffer.filled(1000);
  const auto next = buffer.room(599'000);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->data(), begin + 1000);
  EXPECT_EQ(next->size(), 599'000u);
}

TEST(MessageBufferTest, SaysWhichLimitWasPassed) {
  core::MemoryBudget budget(20'000);
  MessageBuffer buffer(host_memory(), budget);
  buffer.start(std::nullopt);
  const Status status = buffer.append(pattern(20'001));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(status.error().message.find("--max-in-flight-bytes"), std::string::npos);
}

TEST(MessageBufferTest, GivesItsShareOfTheBudgetAwayOrBack) {
  core::MemoryBudget budget(kMiB);
  {
    MessageBuffer buffer(host_memory(), budget);
    buffer.start(100);
    ASSERT_TRUE(buffer.append(pattern(100)));
    {
      const auto reservation = buffer.take_reservation();
      EXPECT_EQ(reservation.bytes(), 100u);
    }
    EXPECT_EQ(budget.used(), 0u);
    buffer.start(200);
    ASSERT_TRUE(buffer.append(pattern(200)));
    EXPECT_EQ(budget.used(), 200u);
  }
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace proa::frontends
