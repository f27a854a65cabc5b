#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "engine/run/device_engine.h"
#include "tensor/buffer.h"

namespace proa::backends::cuda {

// Blocks of page-locked memory of one size, used again and again: allocating one takes as long as a
// batch. A buffer may outlive whoever asked for it; its block then goes back to the pool, which
// lives as long as its last buffer.
// Threading: thread-safe.
class PinnedPool : public std::enable_shared_from_this<PinnedPool> {
 public:
  // `engine` must outlive the pool.
  static std::shared_ptr<PinnedPool> create(engine::DeviceEngine& engine, int device,
                                            std::size_t block_bytes) {
    return std::shared_ptr<PinnedPool>(new PinnedPool(engine, device, block_bytes));
  }

  // `bytes` (at most the block's) of a block. Errors: kResourceExhausted.
  Result<Buffer> take(std::size_t bytes) PROA_EXCLUDES(mutex_);

 private:
  // Slow readers may hold many blocks for a while; beyond this they are given back to the system.
  static constexpr std::size_t kMostIdle = 8;

  PinnedPool(engine::DeviceEngine& engine, int device, std::size_t block_bytes)
      : engine_(engine), device_(device), block_bytes_(block_bytes) {}
  void give_back(Buffer block) PROA_EXCLUDES(mutex_);

  engine::DeviceEngine& engine_;
  const int device_;
  const std::size_t block_bytes_;
  Mutex mutex_;
  std::vector<Buffer> idle_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::cuda
