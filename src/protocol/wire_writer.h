#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "protocol/wire_reader.h"

namespace proa::protocol {

// The length of `value` as a varint.
constexpr std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// The length of a bytes field with a tag of one byte: tag, length, content.
constexpr std::size_t bytes_field_size(std::size_t content) {
  return 1 + varint_size(content) + content;
}

// Writes the protobuf wire format into memory that the caller has measured before; never checks.
// Field numbers are below 16, so that a tag is one byte.
// Threading: a plain value; points into somebody else's memory.
class WireWriter {
 public:
  explicit WireWriter(char* at) : at_(at) {}

  char* position() const { return at_; }

  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      *at_++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<char>(value);
  }

  void raw(const void* data, std::size_t size) {
    if (size > 0) std::memcpy(at_, data, size);
    at_ += size;
  }

  void varint_field(std::uint32_t field, std::uint64_t value) {
    tag(field, WireType::kVarint);
    varint(value);
  }

  void fixed64_field(std::uint32_t field, std::uint64_t value) {
    tag(field, WireType::kFixed64);
    raw(&value, sizeof value);
  }

  // The front of a bytes field: `size` bytes of content must follow.
  void open_field(std::uint32_t field, std::size_t size) {
    tag(field, WireType::kBytes);
    varint(size);
  }

  void bytes_field(std::uint32_t field, std::string_view content) {
    open_field(field, content.size());
    raw(content.data(), content.size());
  }

 private:
  void tag(std::uint32_t field, WireType type) {
    *at_++ = static_cast<char>(wire_tag(field, type));
  }

  char* at_;
};

}  // namespace proa::protocol
