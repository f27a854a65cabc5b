#include "loadgen/data/generate.h"

#include <bit>
#include <cstring>

#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

// k / 2^bits, for k < 2^bits, as a binary floating-point number with `bits` - 1 stored bits of
// fraction and that bias: the 16-bit types have no arithmetic here.
std::uint16_t fraction_bits(std::uint64_t k, int bits, int bias) {
  if (k == 0) return 0;
  const int exponent = std::bit_width(k) - 1;
  const int stored = bits - 1;
  const std::uint64_t fraction = (k << (stored - exponent)) & ((1U << stored) - 1);
  return static_cast<std::uint16_t>(static_cast<std::uint64_t>(exponent - bits + bias) << stored |
                                    fraction);
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// How many elements; checks that their bytes can be held.
Result<std::int64_t> count_elements(DataType type, const Shape& shape) {
  const std::int64_t count = shape.element_count().value_or(-1);
  if (type != DataType::kBytes) PROA_TRY(dense_byte_size(type, shape));
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;
  if (count < 0 || count > kMaxElements) {
    return error::invalid_argument("shape {} has too many elements", shape.to_string());
  }
  return count;
}

}  // namespace

std::string RandomFill::make_text() {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  if (!strings_.text.empty()) return strings_.text;
  std::string text;
  for (std::size_t i = 0; i < strings_.length; ++i) text += kLetters[random_() % kLetters.size()];
  return text;
}

void RandomFill::append_element(DataType type, std::string& bytes) {
  const std::uint64_t draw = random_();
  const std::uint64_t small = draw % 100;
  switch (type) {
    case DataType::kBool:
      return append(bytes, static_cast<std::uint8_t>(draw & 1));
    case DataType::kUint8:
      return append(bytes, static_cast<std::uint8_t>(draw));
    case DataType::kInt8:
      return append(bytes, static_cast<std::int8_t>(small));
    case DataType::kUint16:
    case DataType::kInt16:
      return append(bytes, static_cast<std::uint16_t>(small));
    case DataType::kUint32:
    case DataType::kInt32:
      return append(bytes, static_cast<std::uint32_t>(small));
    case DataType::kUint64:
    case DataType::kInt64:
      return append(bytes, small);
    case DataType::kFp16:
      return append(bytes, fraction_bits(draw >> 53, 11, 15));
    case DataType::kBf16:
      return append(bytes, fraction_bits(draw >> 56, 8, 127));
    case DataType::kFp32:
      return append(bytes, static_cast<float>(draw >> 40) * 0x1p-24F);
    case DataType::kFp64:
      return append(bytes, static_cast<double>(draw >> 11) * 0x1p-53);
    case DataType::kBytes:
      return append_bytes_element(bytes, make_text());
    case DataType::kInvalid:
      break;
  }
}

Result<Tensor> RandomFill::make(DataType type, const Shape& shape) {
  PROA_ASSIGN(const std::int64_t count, count_elements(type, shape));
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(count) * element_size(type));
  for (std::int64_t i = 0; i < count; ++i) append_element(type, bytes);
  return tensor_over(type, shape, bytes);
}

Result<Tensor> make_zeros(DataType type, const Shape& shape, const std::string& text) {
  PROA_ASSIGN(const std::int64_t count, count_elements(type, shape));
  std::string bytes;
  if (type == DataType::kBytes) {
    for (std::int64_t i = 0; i < count; ++i) append_bytes_element(bytes, text);
  } else {
    bytes.assign(static_cast<std::size_t>(count) * element_size(type), '\0');
  }
  return tensor_over(type, shape, bytes);
}

}  // namespace proa::loadgen
