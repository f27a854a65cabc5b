#include "tensor/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "base/check.h"

namespace proa {
namespace {

constexpr std::size_t kHeader = Buffer::kAlignment;
static_assert(sizeof(Buffer::Block) <= kHeader);

void* allocate_aligned(std::size_t alignment, std::size_t bytes) {
  void* const memory =
      std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  PROA_CHECK(memory != nullptr, "out of host memory");
  return memory;
}

// The C library has such memory from the kernel each time. In pages of 2 MiB, where there are some,
// touching it for the first time costs a small part of what it does in those of 4 KiB.
constexpr std::size_t kLarge = std::size_t{32} << 20, kLargePage = std::size_t{2} << 20;
void* allocate_large(std::size_t bytes) {
  void* const memory = allocate_aligned(kLargePage, bytes);
  (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // works without, too
  return memory;
}

// Header and bytes are one allocation.
void release_host(Buffer::Block* block) {
  block->~Block();
  std::free(block);
}

struct WrappedBlock : Buffer::Block {
  Buffer::Deleter deleter;
};

void release_wrapped(Buffer::Block* block) {
  auto* wrapped = static_cast<WrappedBlock*>(block);
  wrapped->deleter();
  delete wrapped;
}

class HostMemory final : public MemoryPool {
 public:
  Buffer allocate(std::size_t size) override { return Buffer::allocate(size); }
};

}  // namespace

Buffer Buffer::allocate(std::size_t size) {
  const std::size_t total = kHeader + size + MemoryPool::kTailPadding;
  void* const memory = total < kLarge ? allocate_aligned(kAlignment, total) : allocate_large(total);
  auto* block = new (memory) Block;
  block->data = static_cast<std::byte*>(memory) + kHeader;
  block->size = size;
  block->release = release_host;
  return Buffer(block);
}

Buffer Buffer::wrap(std::byte* data, std::size_t size, Deleter release, MemoryKind kind,
                    int device) {
  auto* block = new WrappedBlock;
  block->data = data;
  block->size = size;
  block->kind = kind;
  block->device = device;
  block->release = release_wrapped;
  block->deleter = std::move(release);
  return Buffer(block);
}

MemoryPool& host_memory() {
  static HostMemory pool;
  return pool;
}

}  // namespace proa
