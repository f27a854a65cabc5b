#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace proa {

// Where bytes live. kHostPinned is page-locked host memory that a GPU copies from without staging.
enum class MemoryKind : std::uint8_t { kHost, kHostPinned, kGpu };

// A reference-counted block of bytes on one device. Copying a Buffer shares the block; the last one
// to go releases it. Blocks come from a MemoryPool, or wrap somebody else's memory.
//
// Threading: a Buffer object is a plain value; the block's count is atomic, so holders may live on
// different threads. Writing into a shared block needs the holders' own agreement.
class Buffer {
 public:
  using Deleter = std::move_only_function<void()>;

  // The header of a block. A pool may place it in front of the bytes.
  struct Block {
    std::atomic<std::int64_t> references = 1;
    std::byte* data = nullptr;
    std::size_t size = 0;
    MemoryKind kind = MemoryKind::kHost;
    std::int32_t device = 0;
    void (*release)(Block*) = nullptr;  // frees the bytes and the Block itself
  };

  Buffer() = default;
  // Takes over one reference.
  explicit Buffer(Block* block) : block_(block) {}
  Buffer(const Buffer& other) : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Buffer() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      block_->release(block_);
    }
  }

  // Host memory aligned to kAlignment; never null, `size` 0 included. Ends the process when the
  // machine has no more memory (callers bound sizes from the wire before they ask).
  static Buffer allocate(std::size_t size);
  // A block over memory that `release` frees.
  static Buffer wrap(std::byte* data, std::size_t size, Deleter release,
                     MemoryKind kind = MemoryKind::kHost, int device = 0);

  static constexpr std::size_t kAlignment = 64;

  explicit operator bool() const { return block_ != nullptr; }
  std::byte* data() const { return block_ == nullptr ? nullptr : block_->data; }
  std::size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  MemoryKind kind() const { return block_ == nullptr ? MemoryKind::kHost : block_->kind; }
  int device() const { return block_ == nullptr ? 0 : block_->device; }
  // True when nobody else holds the block.
  bool unique() const {
    return block_ != nullptr && block_->references.load(std::memory_order_acquire) == 1;
  }
  std::span<std::byte> bytes() const { return {data(), size()}; }

 private:
  Block* block_ = nullptr;
};

// A range of a Buffer that keeps the block alive.
// Threading: a plain value.
struct BufferView {
  Buffer buffer;
  std::size_t offset = 0;
  std::size_t size = 0;

  BufferView() = default;
  explicit BufferView(Buffer whole) : buffer(std::move(whole)), size(buffer.size()) {}
  BufferView(Buffer owner, std::size_t at, std::size_t length)
      : buffer(std::move(owner)), offset(at), size(length) {}

  std::byte* data() const { return buffer.data() == nullptr ? nullptr : buffer.data() + offset; }
  std::span<std::byte> bytes() const { return {data(), size}; }
  // The range [at, at + length) of this view; it must lie inside.
  BufferView sub(std::size_t at, std::size_t length) const {
    return BufferView(buffer, offset + at, length);
  }
};

// Where blocks of one kind of memory come from.
// Threading: thread-safe.
class MemoryPool {
 public:
  virtual ~MemoryPool() = default;
  // A block of at least `size` bytes whose size() is exactly `size`, aligned to Buffer::kAlignment,
  // with at least kTailPadding readable bytes behind it (simdjson reads past the end).
  virtual Buffer allocate(std::size_t size) = 0;
  static constexpr std::size_t kTailPadding = 64;
};

// Ordinary host memory, from the process's allocator; lives as long as the process.
MemoryPool& host_memory();

}  // namespace proa
