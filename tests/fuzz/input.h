#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tensor/buffer.h"

namespace proa::fuzz {

// The bytes of one run, taken from the front.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  // 0 when there is none left.
  std::uint8_t byte() { return rest_.empty() ? 0 : static_cast<std::uint8_t>(take(1)[0]); }
  std::uint16_t two_bytes() {
    const auto low = byte();
    return static_cast<std::uint16_t>(low | byte() << 8);
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest() { return take(rest_.size()); }

 private:
  std::string_view rest_;
};

// `bytes` in a block of their own, so that reading beyond it is seen: with nothing behind it but
// the padding of pools when `padded`.
inline BufferView own_block(std::string_view bytes, bool padded) {
  const std::size_t size = bytes.size() + (padded ? MemoryPool::kTailPadding : 0);
  auto* block = new std::byte[size];
  if (!bytes.empty()) std::memcpy(block, bytes.data(), bytes.size());
  std::fill(block + bytes.size(), block + size, std::byte{0xa5});
  return BufferView(Buffer::wrap(block, bytes.size(), [block] { delete[] block; }));
}

}  // namespace proa::fuzz
