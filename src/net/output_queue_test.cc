#include "net/output_queue.h"

#include <array>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace proa::net {
namespace {

std::string content(const OutputQueue& queue) {
  std::array<iovec, 1024> vectors;
  const std::size_t used = queue.gather(vectors);
  std::string all;
  for (std::size_t i = 0; i < used; ++i) {
    all.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
  }
  return all;
}

Buffer filled(std::size_t size, char with) {
  Buffer buffer = Buffer::allocate(size);
  std::fill_n(reinterpret_cast<char*>(buffer.data()), size, with);
  return buffer;
}

TEST(OutputQueueTest, JoinsSmallPartsAndReferencesLargeOnes) {
  OutputQueue queue;
  const Buffer large = filled(10'000, 'l');
  queue.append("head;");
  queue.append(Segment{"json;", BufferView(filled(10, 's'))});
  queue.append(Segment{"", BufferView(large)});
  queue.append("tail");
  std::array<iovec, 8> vectors;
  ASSERT_EQ(queue.gather(vectors), 3u);
  EXPECT_EQ(vectors[0].iov_len, 5u + 5 + 10);
  EXPECT_EQ(vectors[1].iov_base, large.data());
  EXPECT_EQ(vectors[2].iov_len, 4u);
  EXPECT_FALSE(large.unique());
  queue.consume(20 + 10'000);
  EXPECT_TRUE(large.unique()) << "a sent part is let go at once";
  EXPECT_EQ(content(queue), "tail");
}

TEST(OutputQueueTest, GathersNoMoreThanItIsGivenRoomFor) {
  OutputQueue queue;
  for (int i = 0; i < 5; ++i) {
    queue.append("x");
    queue.append(BufferView(filled(5'000, 'y')));
  }
  std::array<iovec, 3> vectors;
  EXPECT_EQ(queue.gather(vectors), 3u);
}

// A queue that is never empty, against a plain string.
TEST(OutputQueueTest, KeepsBytesInOrderThroughPartialWrites) {
  OutputQueue queue;
  std::string expected;
  std::minstd_rand random(1);
  char next = 'a';
  for (int i = 0; i < 5'000; ++i) {
    next = next == 'z' ? 'a' : static_cast<char>(next + 1);
    const std::string bytes(random() % 300, next);
    switch (random() % 4) {
      case 0:
        queue.append(BufferView(filled(5'000, next)));
        expected.append(5'000, next);
        break;
      case 1:
        queue.append(Segment{std::string(6'000, next), {}});
        expected.append(6'000, next);
        break;
      default:
        queue.append(bytes);
        expected += bytes;
        break;
    }
    const std::size_t sent =
        queue.empty() ? 0 : std::min<std::size_t>(random() % 8'000, queue.size() - 1);
    queue.consume(sent);
    expected.erase(0, sent);
    ASSERT_EQ(queue.size(), expected.size());
    if (i % 100 == 0) {
      ASSERT_EQ(content(queue), expected.substr(0, content(queue).size())) << i;
    }
  }
}

}  // namespace
}  // namespace proa::net
