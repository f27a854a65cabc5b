#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "loadgen/payloads.h"
#include "protocol/typed.h"
#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

using protocol::Bf16;
using protocol::Fp16;

template <class T>
T element_at(const Tensor& tensor, std::int64_t index) {
  T value;
  std::memcpy(&value, tensor.data.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

// What can be subtracted and printed.
template <class T>
auto as_number(T value) {
  if constexpr (std::same_as<T, Fp16> || std::same_as<T, Bf16>) {
    return protocol::to_float(value);
  } else if constexpr (sizeof(T) == 1 && std::integral<T>) {
    return static_cast<int>(value);
  } else {
    return value;
  }
}

template <class Number>
bool near(Number wanted, Number came, double tolerance) {
  if constexpr (std::floating_point<Number>) {
    if (wanted == came || (std::isnan(wanted) && std::isnan(came))) return true;
    return std::abs(double{came} - double{wanted}) <=
           tolerance * std::max(1.0, std::abs(double{wanted}));
  } else {
    return wanted == came;
  }
}

Error differs(const NamedTensor& expected, std::int64_t index, const std::string& wanted,
              const std::string& came) {
  return error::failed_precondition("output '{}' element {}: validation_data wants {}, {} came",
                                    expected.name, index, wanted, came);
}

Status check_numbers(const NamedTensor& expected, const Tensor& came, std::int64_t count,
                     double tolerance) {
  return protocol::visit_element_type(came.type, [&](auto identity) -> Status {
    using T = typename decltype(identity)::type;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto wanted = as_number(element_at<T>(expected.tensor, i));
      const auto got = as_number(element_at<T>(came, i));
      if (!near(wanted, got, tolerance)) {
        return differs(expected, i, fmt::format("{}", wanted), fmt::format("{}", got));
      }
    }
    return {};
  });
}

// For messages: long strings are cut.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMax = 40;
  return fmt::format("'{}{}'", text.substr(0, kMax), text.size() > kMax ? "..." : "");
}

Status check_strings(const NamedTensor& expected, const Tensor& came, std::int64_t count) {
  PROA_ASSIGN(const auto wanted, read_bytes_elements(expected.tensor.data.bytes(), count));
  PROA_ASSIGN(const auto got, read_bytes_elements(came.data.bytes(), count));
  const auto [a, b] = std::ranges::mismatch(wanted, got);
  if (a == wanted.end()) return {};
  return differs(expected, a - wanted.begin(), quoted(*a), quoted(*b));
}

Status check_output(const NamedTensor& expected, const Tensor& came, double tolerance) {
  const Tensor& wanted = expected.tensor;
  if (wanted.type != came.type || wanted.shape != came.shape) {
    return error::failed_precondition("output '{}': validation_data wants {} {}, {} {} came",
                                      expected.name, data_type_name(wanted.type),
                                      wanted.shape.to_string(), data_type_name(came.type),
                                      came.shape.to_string());
  }
  const std::int64_t count = wanted.shape.element_count().value_or(0);
  if (came.type == DataType::kBytes) return check_strings(expected, came, count);
  if (came.data.size != wanted.data.size) {
    return error::failed_precondition("output '{}': validation_data wants {} bytes, {} came",
                                      expected.name, wanted.data.size, came.data.size);
  }
  return check_numbers(expected, came, count, tolerance);
}

}  // namespace

std::size_t Payload::input_bytes() const {
  std::size_t sum = 0;
  for (const NamedTensor& input : inputs) sum += input.tensor.data.size;
  return sum;
}

Status check_answer(const Payload& payload, const std::vector<NamedTensor>& answer,
                    double tolerance) {
  for (const NamedTensor& expected : payload.expected) {
    const auto came = std::ranges::find(answer, expected.name, &NamedTensor::name);
    if (came == answer.end()) {
      return error::failed_precondition("output '{}' is in validation_data but not in the answer",
                                        expected.name);
    }
    PROA_TRY(check_output(expected, came->tensor, tolerance));
  }
  return {};
}

}  // namespace proa::loadgen
