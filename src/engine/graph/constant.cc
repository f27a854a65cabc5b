// Numbers in and out of dense bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "engine/graph/graph.h"
#include "engine/half.h"

namespace proa::engine {
namespace {

// Calls f(T{}) with the storage type of `type`; half has no arithmetic type and is handled apart.
template <class F>
void with_storage(DataType type, F&& f) {
  switch (type) {
    case DataType::kFp32:
      return f(float{});
    case DataType::kFp64:
      return f(double{});
    case DataType::kBool:
    case DataType::kUint8:
      return f(std::uint8_t{});
    case DataType::kUint16:
      return f(std::uint16_t{});
    case DataType::kUint32:
      return f(std::uint32_t{});
    case DataType::kUint64:
      return f(std::uint64_t{});
    case DataType::kInt8:
      return f(std::int8_t{});
    case DataType::kInt16:
      return f(std::int16_t{});
    case DataType::kInt32:
      return f(std::int32_t{});
    case DataType::kInt64:
      return f(std::int64_t{});
    default:
      PROA_CHECK(false, "the engine has no numbers of this type");
  }
}

template <class T>
T to_storage(float number) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number);
  } else {
    // In double, because float cannot hold the largest 32- and 64-bit integers.
    const double whole = std::trunc(static_cast<double>(number));
    if (std::isnan(whole)) return T{0};
    if (whole <= static_cast<double>(std::numeric_limits<T>::lowest())) {
      return std::numeric_limits<T>::lowest();
    }
    if (whole >= static_cast<double>(std::numeric_limits<T>::max())) {
      return std::numeric_limits<T>::max();
    }
    return static_cast<T>(whole);
  }
}

}  // namespace

Buffer pack_floats(DataType type, std::span<const float> numbers) {
  Buffer buffer = Buffer::allocate(numbers.size() * element_size(type));
  if (type == DataType::kFp16) {
    auto* to = reinterpret_cast<std::uint16_t*>(buffer.data());
    std::ranges::transform(numbers, to, float_to_half);
    return buffer;
  }
  with_storage(type, [&]<class T>(T) {
    auto* to = reinterpret_cast<T*>(buffer.data());
    std::ranges::transform(numbers, to, to_storage<T>);
  });
  return buffer;
}

std::vector<float> unpack_floats(DataType type, std::span<const std::byte> bytes,
                                 std::size_t count) {
  PROA_CHECK(bytes.size() >= count * element_size(type), "too few bytes");
  std::vector<float> numbers(count);
  if (type == DataType::kFp16) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(bytes.data());
    std::transform(from, from + count, numbers.begin(), half_to_float);
    return numbers;
  }
  with_storage(type, [&]<class T>(T) {
    const auto* from = reinterpret_cast<const T*>(bytes.data());
    std::transform(from, from + count, numbers.begin(),
                   [](T each) { return static_cast<float>(each); });
  });
  return numbers;
}

std::vector<float> constant_floats(const Value& value) {
  PROA_CHECK(value.constant.has_value(), "not a constant");
  return unpack_floats(value.type, value.constant->bytes(),
                       static_cast<std::size_t>(value.elements()));
}

}  // namespace proa::engine
