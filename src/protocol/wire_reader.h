#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace proa::protocol {

// Wire types of protobuf fields.
enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// A tag as it stands on the wire: field number and wire type in one number.
constexpr std::uint32_t wire_tag(std::uint32_t field, WireType type) {
  return field << 3 | static_cast<std::uint32_t>(type);
}

// Reads the protobuf wire format from contiguous bytes. Every function returns false when the bytes
// are malformed or cut short, and then leaves the position near the place. Accepts and refuses what
// protobuf's own parser does.
// Threading: a plain value; points into somebody else's bytes.
// Source: https://protobuf.dev/programming-guides/encoding/
class WireReader {
 public:
  WireReader() = default;
  explicit WireReader(std::string_view bytes)
      : at_(reinterpret_cast<const std::uint8_t*>(bytes.data())), end_(at_ + bytes.size()) {}

  bool done() const { return at_ == end_; }
  const char* position() const { return reinterpret_cast<const char*>(at_); }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

  bool read_tag(std::uint32_t& tag) {
    if (at_ != end_ && *at_ < 0x80) {
      tag = *at_++;
    } else {
      std::uint64_t value = 0;
      if (!read_long_varint(value, kMaxTagBytes)) return false;
      // protobuf too drops what does not fit 32 bits
      tag = static_cast<std::uint32_t>(value);
    }
    return tag >> 3 != 0;
  }

  bool read_varint(std::uint64_t& value) {
    if (at_ != end_ && *at_ < 0x80) {
      value = *at_++;
      return true;
    }
    return read_long_varint(value, kMaxVarintBytes);
  }

  bool read_fixed32(std::uint32_t& value) { return read_fixed(value); }
  bool read_fixed64(std::uint64_t& value) { return read_fixed(value); }

  // A length and that many bytes.
  bool read_bytes(std::string_view& bytes) {
    std::uint64_t length = 0;
    if (at_ != end_ && *at_ < 0x80) {
      length = *at_++;
    } else if (!read_long_varint(length, kMaxTagBytes)) {
      return false;
    }
    if (length > remaining()) return false;
    bytes = {position(), static_cast<std::size_t>(length)};
    at_ += length;
    return true;
  }

  // The value of a field that is of no interest, groups included.
  bool skip(std::uint32_t tag) { return skip(tag, 0); }

 private:
  static constexpr int kMaxVarintBytes = 10;
  static constexpr int kMaxTagBytes = 5;
  static constexpr int kMaxGroupDepth = 100;

  bool read_long_varint(std::uint64_t& value, int max_bytes) {
    value = 0;
    for (int i = 0; i < max_bytes; ++i) {
      if (at_ == end_) return false;
      const std::uint8_t byte = *at_++;
      value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  template <class Value>
  bool read_fixed(Value& value) {
    if (remaining() < sizeof value) return false;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return true;
  }

  bool skip(std::uint32_t tag, int depth) {
    std::uint64_t number = 0;
    std::uint32_t word = 0;
    std::string_view bytes;
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::kVarint:
        return read_varint(number);
      case WireType::kFixed64:
        return read_fixed64(number);
      case WireType::kBytes:
        return read_bytes(bytes);
      case WireType::kFixed32:
        return read_fixed32(word);
      case WireType::kStartGroup:
        return skip_group(tag, depth);
      case WireType::kEndGroup:
        break;
    }
    return false;
  }

  bool skip_group(std::uint32_t start, int depth) {
    if (depth == kMaxGroupDepth) return false;
    std::uint32_t tag = 0;
    while (read_tag(tag)) {
      if ((tag & 7) == static_cast<std::uint32_t>(WireType::kEndGroup)) {
        return tag >> 3 == start >> 3;
      }
      if (!skip(tag, depth + 1)) return false;
    }
    return false;
  }

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

}  // namespace proa::protocol
