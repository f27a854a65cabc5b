#include "tensor/buffer.h"

#include <cstdlib>
#include <new>

#include "base/check.h"

namespace proa {
namespace {

constexpr std::size_t kHeader = Buffer::kAlignment;
static_assert(sizeof(Buffer::Block) <= kHeader);

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
  std::size_t total = kHeader + size + MemoryPool::kTailPadding;
  total = (total + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, total);
  PROA_CHECK(memory != nullptr, "out of host memory");
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
