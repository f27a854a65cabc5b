#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proa {

// Element types of KServe v2 tensors. The values are those of `inference.DataType` in config.pbtxt.
// kBytes elements have no fixed size (tensor/bytes_tensor.h).
enum class DataType : std::uint8_t {
  kInvalid = 0,
  kBool = 1,
  kUint8 = 2,
  kUint16 = 3,
  kUint32 = 4,
  kUint64 = 5,
  kInt8 = 6,
  kInt16 = 7,
  kInt32 = 8,
  kInt64 = 9,
  kFp16 = 10,
  kFp32 = 11,
  kFp64 = 12,
  kBytes = 13,
  kBf16 = 14,
};

// Bytes of one element; 0 for kBytes and kInvalid.
std::size_t element_size(DataType type);

// The name on the wire: "FP32", "BYTES". "INVALID" for kInvalid.
std::string_view data_type_name(DataType type);

// The type with that wire name; case matters.
std::optional<DataType> parse_data_type(std::string_view name);

}  // namespace proa
