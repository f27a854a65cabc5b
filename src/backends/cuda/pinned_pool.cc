#include "backends/cuda/pinned_pool.h"

#include "base/check.h"

namespace proa::backends::cuda {

Result<Buffer> PinnedPool::take(std::size_t bytes) {
  PROA_CHECK(bytes <= block_bytes_, "the pool's blocks are of the largest size asked for");
  Buffer block;
  {
    MutexLock lock(mutex_);
    if (!idle_.empty()) {
      block = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!block) {
    PROA_ASSIGN(block, engine_.allocate_pinned(device_, block_bytes_));
  }
  std::byte* data = block.data();
  const MemoryKind kind = block.kind();
  return Buffer::wrap(
      data, bytes,
      [pool = shared_from_this(), block = std::move(block)]() mutable {
        pool->give_back(std::move(block));
      },
      kind);
}

void PinnedPool::give_back(Buffer block) {
  MutexLock lock(mutex_);
  if (idle_.size() < kMostIdle) {
    idle_.push_back(std::move(block));
    return;
  }
  lock.unlock();
  block = Buffer();
}

}  // namespace proa::backends::cuda
