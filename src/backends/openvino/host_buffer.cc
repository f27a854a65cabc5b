#include "backends/openvino/host_buffer.h"

#include <cstdlib>

namespace proa::backends::openvino {
namespace {

// Below, memory that ends is the process's end, as everywhere; above, it is this tensor's fault.
constexpr std::size_t kLarge = std::size_t{16} << 20;
constexpr std::size_t kMost = std::size_t{1} << 62;

}  // namespace

Result<Buffer> allocate_or_fail(std::string_view name, std::size_t bytes) {
  if (bytes < kLarge) return host_memory().allocate(bytes);
  const std::size_t padded = (bytes + MemoryPool::kTailPadding + Buffer::kAlignment - 1) /
                             Buffer::kAlignment * Buffer::kAlignment;
  void* memory = bytes > kMost ? nullptr : std::aligned_alloc(Buffer::kAlignment, padded);
  if (memory == nullptr) {
    return error::resource_exhausted(
        "tensor '{}' of {} bytes: the machine has not that much memory; send less", name, bytes);
  }
  return Buffer::wrap(static_cast<std::byte*>(memory), bytes, [memory] { std::free(memory); });
}

}  // namespace proa::backends::openvino
