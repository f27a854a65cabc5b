#include "tensor/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace proa {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// `code` with what the system said last.
Error system_error(ErrorCode code, std::string_view what, std::size_t size) {
  return Error{code, fmt::format("{} of {} bytes: {}", what, size, std::strerror(errno))};
}

std::byte* map(int fd, std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

SharedBlock::SharedBlock(int fd, std::byte* data, std::size_t size)
    : id_(next_id()), fd_(fd), data_(data), size_(size) {}

SharedBlock::~SharedBlock() {
  ::munmap(data_, size_);
  ::close(fd_);
}

Result<std::shared_ptr<const SharedBlock>> SharedBlock::create(std::size_t size) {
  const int fd = ::memfd_create("proa", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return system_error(ErrorCode::kResourceExhausted, "shared memory", size);
  std::byte* data = nullptr;
  if (::ftruncate(fd, static_cast<off_t>(size)) != 0 ||
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0 || (data = map(fd, size)) == nullptr) {
    Error failed = system_error(ErrorCode::kResourceExhausted, "shared memory", size);
    ::close(fd);
    return failed;
  }
  return std::shared_ptr<const SharedBlock>(new SharedBlock(fd, data, size));
}

Result<std::shared_ptr<const SharedBlock>> SharedBlock::adopt(int fd, std::size_t size) {
  struct stat status = {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  const bool sealed = seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  std::byte* data = nullptr;
  if (!sealed || size == 0 || ::fstat(fd, &status) != 0 ||
      static_cast<std::size_t>(status.st_size) < size || (data = map(fd, size)) == nullptr) {
    ::close(fd);
    return error::invalid_argument(
        "a block of {} bytes is not a writable memfd of that size with F_SEAL_SHRINK", size);
  }
  return std::shared_ptr<const SharedBlock>(new SharedBlock(fd, data, size));
}

std::shared_ptr<void> SharedMemory::start_use() {
  users_.fetch_add(1, std::memory_order_relaxed);
  return std::shared_ptr<void>(this, [self = shared_from_this()](void*) { self->end_use(); });
}

void SharedMemory::end_use() {
  if (users_.fetch_sub(1, std::memory_order_relaxed) > 1) return;
  decltype(idle_) idle;
  MutexLock lock(mutex_);
  for (const auto& [size, blocks] : idle_) {
    for (const auto& block : blocks) blocks_.erase(block->data());
  }
  std::swap(idle, idle_);
  idle_bytes_ = 0;
  generation_.fetch_add(1, std::memory_order_relaxed);
}

Buffer SharedMemory::allocate(std::size_t size) {
  if (size < kSmallest || users_.load(std::memory_order_relaxed) == 0) {
    return Buffer::allocate(size);
  }
  auto buffer = allocate_shared(size);
  return buffer ? *std::move(buffer) : Buffer::allocate(size);
}

Result<Buffer> SharedMemory::allocate_shared(std::size_t size) {
  if (size > (std::size_t{1} << 46)) {
    return error::resource_exhausted("shared memory of {} bytes is more than any machine has",
                                     size);
  }
  // Pages that are never touched cost nothing.
  const std::size_t capacity = std::bit_ceil(std::max(size + kTailPadding, kSmallest * 2));
  PROA_ASSIGN(auto block, take(capacity));
  std::byte* data = block->data();
  return Buffer::wrap(data, size, [self = shared_from_this(), block = std::move(block)]() mutable {
    self->give_back(std::move(block));
  });
}

Result<std::shared_ptr<const SharedBlock>> SharedMemory::take(std::size_t capacity) {
  {
    MutexLock lock(mutex_);
    const auto found = idle_.find(capacity);
    if (found != idle_.end() && !found->second.empty()) {
      auto block = std::move(found->second.back());
      found->second.pop_back();
      idle_bytes_ -= capacity;
      return block;
    }
  }
  PROA_ASSIGN(auto block, SharedBlock::create(capacity));
  MutexLock lock(mutex_);
  blocks_.emplace(block->data(), block);
  return block;
}

void SharedMemory::give_back(std::shared_ptr<const SharedBlock> block) {
  MutexLock lock(mutex_);
  if (users_.load(std::memory_order_relaxed) > 0 && idle_bytes_ + block->size() <= kMostIdleBytes) {
    idle_bytes_ += block->size();
    idle_[block->size()].push_back(std::move(block));
    return;
  }
  blocks_.erase(block->data());
  generation_.fetch_add(1, std::memory_order_relaxed);
  lock.unlock();
  block.reset();
}

std::shared_ptr<const SharedBlock> SharedMemory::find(const std::byte* address) const {
  MutexLock lock(mutex_);
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return nullptr;
  const auto& block = std::prev(next)->second;
  return address < block->data() + block->size() ? block : nullptr;
}

}  // namespace proa
