#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "tensor/data_type.h"

namespace proa::protocol {

// The C++ types of tensor elements, for code that is written once for all of them.

// The 16-bit float types have no arithmetic of their own here.
struct Fp16 {
  std::uint16_t bits;
};
struct Bf16 {
  std::uint16_t bits;
};

// IEEE 754 half precision to single.
inline float to_float(Fp16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t exponent = value.bits >> 10 & 0x1F;
  const std::uint32_t fraction = value.bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign == 0 ? magnitude : -magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

inline float to_float(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// Calls visit(std::type_identity<T>{}) with the element type of a fixed-size data type: bool, the
// integers, Fp16, Bf16, float or double. kBytes and kInvalid are the caller's to keep out.
template <class Visit>
decltype(auto) visit_element_type(DataType type, Visit&& visit) {
  switch (type) {
    case DataType::kBool:
      return visit(std::type_identity<bool>{});
    case DataType::kUint8:
      return visit(std::type_identity<std::uint8_t>{});
    case DataType::kUint16:
      return visit(std::type_identity<std::uint16_t>{});
    case DataType::kUint32:
      return visit(std::type_identity<std::uint32_t>{});
    case DataType::kUint64:
      return visit(std::type_identity<std::uint64_t>{});
    case DataType::kInt8:
      return visit(std::type_identity<std::int8_t>{});
    case DataType::kInt16:
      return visit(std::type_identity<std::int16_t>{});
    case DataType::kInt32:
      return visit(std::type_identity<std::int32_t>{});
    case DataType::kInt64:
      return visit(std::type_identity<std::int64_t>{});
    case DataType::kFp16:
      return visit(std::type_identity<Fp16>{});
    case DataType::kBf16:
      return visit(std::type_identity<Bf16>{});
    case DataType::kFp32:
      return visit(std::type_identity<float>{});
    case DataType::kFp64:
      return visit(std::type_identity<double>{});
    case DataType::kBytes:
    case DataType::kInvalid:
      break;
  }
  PROA_CHECK(false, "no fixed element type");
  std::unreachable();  // not every build type sees that the check never returns
}

template <class T>
concept NumericElement = std::integral<T> || std::floating_point<T>;

// `value` as an element of type T in `out`; false when it does not fit. Any number but 0 is true.
template <NumericElement T, NumericElement Value>
bool convert_element(Value value, T& out) {
  if constexpr (std::same_as<T, bool>) {
    out = value != 0;
  } else if constexpr (std::integral<T> && std::integral<Value>) {
    if constexpr (!std::same_as<Value, bool>) {
      if (!std::in_range<T>(value)) return false;
    }
    out = static_cast<T>(value);
  } else if constexpr (std::floating_point<T>) {
    out = static_cast<T>(value);
    // A finite number that rounds to infinity does not fit.
    if constexpr (std::floating_point<Value>) {
      if (std::isinf(out) && !std::isinf(value)) return false;
    }
  } else {
    return false;  // a float is never silently made an integer
  }
  return true;
}

}  // namespace proa::protocol
