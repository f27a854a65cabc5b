#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "tensor/buffer.h"

namespace proa {

// Memory that another process can map: a memfd, which has no name in any file system and goes with
// its last descriptor and mapping. It can grow no smaller (F_SEAL_SHRINK), so that reading it never
// faults. Whoever holds the descriptor can write into it.
// Threading: immutable.
class SharedBlock {
 public:
  // Errors: kResourceExhausted when the machine has no more memory, descriptors or mappings.
  static Result<std::shared_ptr<const SharedBlock>> create(std::size_t size);
  // Maps what another process made. Closes `fd`, now or at its end. Errors: kInvalidArgument when
  // it is no sealed memfd, or smaller than `size`.
  static Result<std::shared_ptr<const SharedBlock>> adopt(int fd, std::size_t size);
  ~SharedBlock();
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;

  std::uint64_t id() const { return id_; }  // of this process, never used twice
  int fd() const { return fd_; }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  SharedBlock(int fd, std::byte* data, std::size_t size);

  const std::uint64_t id_;
  const int fd_;
  std::byte* const data_;
  const std::size_t size_;
};

// A pool whose larger blocks other processes can map. While nobody uses it (start_use) it gives
// ordinary memory, so that it can stand where the bodies of requests come from whether or not there
// is a model that takes them from there. Blocks are used again.
//
// Life: by shared_ptr; every buffer holds it. Threading: thread-safe.
class SharedMemory final : public MemoryPool, public std::enable_shared_from_this<SharedMemory> {
 public:
  // Smaller ones are cheaper to copy than to share.
  static constexpr std::size_t kSmallest = std::size_t{16} << 10;

  static std::shared_ptr<SharedMemory> create() {
    return std::shared_ptr<SharedMemory>(new SharedMemory);
  }

  // Larger blocks are shared as long as the result, or another of this kind, is held.
  std::shared_ptr<void> start_use();

  // Ordinary memory as well when no shared memory can be had.
  Buffer allocate(std::size_t size) override PROA_EXCLUDES(mutex_);
  // Errors: as SharedBlock::create().
  Result<Buffer> allocate_shared(std::size_t size) PROA_EXCLUDES(mutex_);

  // The block of this pool that holds that address; null when it is other memory. The caller holds
  // a buffer of it.
  std::shared_ptr<const SharedBlock> find(const std::byte* address) const PROA_EXCLUDES(mutex_);

  // Changes when blocks are given back to the system: whoever has introduced blocks to another
  // process looks which are gone.
  std::uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  using Blocks = std::map<const std::byte*, std::shared_ptr<const SharedBlock>>;
  static constexpr std::size_t kMostIdleBytes = std::size_t{128} << 20;

  SharedMemory() = default;
  Result<std::shared_ptr<const SharedBlock>> take(std::size_t capacity) PROA_EXCLUDES(mutex_);
  void give_back(std::shared_ptr<const SharedBlock> block) PROA_EXCLUDES(mutex_);
  void end_use() PROA_EXCLUDES(mutex_);

  std::atomic<int> users_ = 0;
  std::atomic<std::uint64_t> generation_ = 0;
  mutable Mutex mutex_;
  Blocks blocks_ PROA_GUARDED_BY(mutex_);  // by where they begin
  std::map<std::size_t, std::vector<std::shared_ptr<const SharedBlock>>> idle_
      PROA_GUARDED_BY(mutex_);  // by size
  std::size_t idle_bytes_ PROA_GUARDED_BY(mutex_) = 0;
};

}  // namespace proa
