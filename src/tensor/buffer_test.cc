#include "tensor/buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace proa {
namespace {

TEST(BufferTest, IsAlignedAndSized) {
  for (std::size_t size : {0, 1, 63, 64, 65, 602112}) {
    const Buffer buffer = Buffer::allocate(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer::kAlignment, 0u);
    std::memset(buffer.data(), 1, size);
  }
}

TEST(BufferTest, LastHolderReleases) {
  int released = 0;
  std::byte memory[4];
  Buffer first = Buffer::wrap(memory, sizeof memory, [&] { ++released; });
  EXPECT_TRUE(first.unique());
  {
    const Buffer second = first;
    EXPECT_FALSE(first.unique());
    first = Buffer();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(BufferViewTest, SubViewKeepsTheBlockAlive) {
  BufferView part;
  {
    const Buffer whole = Buffer::allocate(8);
    std::memcpy(whole.data(), "01234567", 8);
    part = BufferView(whole).sub(2, 4).sub(1, 2);
  }
  EXPECT_EQ(std::memcmp(part.data(), "34", 2), 0);
}

}  // namespace
}  // namespace proa
