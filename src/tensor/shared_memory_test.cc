#include "tensor/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "gtest/gtest.h"

namespace proa {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;

TEST(SharedMemoryTest, GivesOrdinaryMemoryWhileNobodyUsesIt) {
  const auto pool = SharedMemory::create();
  EXPECT_EQ(pool->find(pool->allocate(kLarge).data()), nullptr);
  const auto use = pool->start_use();
  const Buffer small = pool->allocate(100);
  EXPECT_EQ(small.size(), 100u);
  EXPECT_EQ(pool->find(small.data()), nullptr);
}

TEST(SharedMemoryTest, FindsTheBlockOfAnyAddressInIt) {
  const auto pool = SharedMemory::create();
  const auto use = pool->start_use();
  const Buffer buffer = pool->allocate(kLarge);
  EXPECT_EQ(buffer.size(), kLarge);
  const auto block = pool->find(buffer.data() + kLarge - 1);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->data(), buffer.data());
  EXPECT_GE(block->size(), kLarge + MemoryPool::kTailPadding);
  EXPECT_EQ(pool->find(buffer.data() - 1), nullptr);
}

TEST(SharedMemoryTest, AnotherMappingOfABlockSeesItsBytes) {
  const auto pool = SharedMemory::create();
  const Buffer buffer = *pool->allocate_shared(kLarge);
  std::memset(buffer.data(), 7, kLarge);
  const auto mine = pool->find(buffer.data());
  const auto other = SharedBlock::adopt(::dup(mine->fd()), mine->size());
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ((*other)->data()[kLarge - 1], std::byte{7});
  EXPECT_NE((*other)->id(), mine->id());
}

TEST(SharedMemoryTest, UsesABlockAgainAndGivesAllBackWithTheLastUser) {
  const auto pool = SharedMemory::create();
  auto use = pool->start_use();
  Buffer buffer = pool->allocate(kLarge - 200);
  std::byte* const data = buffer.data();
  const std::uint64_t id = pool->find(data)->id();
  buffer = Buffer();
  buffer = pool->allocate(kLarge - 100);
  EXPECT_EQ(pool->find(buffer.data())->id(), id);
  buffer = Buffer();
  const std::uint64_t before = pool->generation();
  use.reset();
  EXPECT_NE(pool->generation(), before);
  EXPECT_EQ(pool->find(data), nullptr);
}

TEST(SharedMemoryTest, ABufferOutlivesItsPool) {
  auto pool = SharedMemory::create();
  const Buffer buffer = *pool->allocate_shared(kLarge);
  pool.reset();
  std::memset(buffer.data(), 1, kLarge);
  EXPECT_EQ(buffer.data()[kLarge - 1], std::byte{1});
}

TEST(SharedMemoryTest, AdoptsOnlySealedMemoryOfTheWholeSize) {
  const auto adopt = [](int seals, std::size_t size, std::size_t announced) {
    const int fd = ::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(size)), 0);
    EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, seals), 0);
    return SharedBlock::adopt(fd, announced).has_value();
  };
  EXPECT_TRUE(adopt(F_SEAL_SHRINK, 8192, 8192));
  EXPECT_FALSE(adopt(0, 8192, 8192));
  EXPECT_FALSE(adopt(F_SEAL_SHRINK, 4096, 8192));
  EXPECT_FALSE(adopt(F_SEAL_SHRINK, 4096, 0));
  EXPECT_FALSE(adopt(F_SEAL_SHRINK | F_SEAL_WRITE, 8192, 8192));
  EXPECT_FALSE(SharedBlock::adopt(::open("/dev/zero", O_RDWR | O_CLOEXEC), 4096));
}

}  // namespace
}  // namespace proa
