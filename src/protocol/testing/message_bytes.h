#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "protocol/infer.h"

namespace proa::protocol {

// Test helpers: messages as plain text.

inline BufferView buffer_of(std::string_view bytes) {
  Buffer buffer = Buffer::allocate(bytes.size());
  std::ranges::copy(std::as_bytes(std::span(bytes)), buffer.data());
  return BufferView(std::move(buffer));
}

inline std::string_view text_of(const BufferView& view) {
  return {reinterpret_cast<const char*>(view.data()), view.size};
}

inline std::string text_of(const EncodedMessage& message) {
  std::string text;
  for (const MessagePart& part : message.parts)
    text += part.bytes + std::string(text_of(part.view));
  EXPECT_EQ(text.size(), message.size);
  return text;
}

}  // namespace proa::protocol
