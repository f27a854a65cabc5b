#include "infer_output.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "fmt/format.h"
#include "protocol/typed.h"
#include "tensor/bytes_tensor.h"

namespace proa {
namespace {

template <class Value>
Value element(const Tensor& tensor, std::size_t i) {
  Value value;
  std::memcpy(&value, tensor.data.data() + i * sizeof(Value), sizeof(Value));
  return value;
}

// A number of any type as double; whole ones beyond 2^53 lose their last digits.
double number(const Tensor& tensor, std::size_t i) {
  return protocol::visit_element_type(tensor.type, [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (std::same_as<T, bool>) {
      return element<std::uint8_t>(tensor, i);
    } else if constexpr (protocol::NumericElement<T>) {
      return static_cast<double>(element<T>(tensor, i));
    } else {
      return protocol::to_float(element<T>(tensor, i));
    }
  });
}

std::string format_number(const Tensor& tensor, std::size_t i) {
  if (tensor.type == DataType::kInt64) return fmt::format("{}", element<std::int64_t>(tensor, i));
  if (tensor.type == DataType::kUint64) return fmt::format("{}", element<std::uint64_t>(tensor, i));
  return fmt::format("{:.6g}", number(tensor, i));
}

std::string format_text(std::string_view text) {
  constexpr std::size_t kShown = 80;
  if (text.size() <= kShown) return '"' + log::printable(text) + '"';
  return fmt::format("\"{}...\" ({} bytes)", log::printable(text.substr(0, kShown)), text.size());
}

// `format(i)` of the first and last elements, or of all.
template <class Format>
std::string join_ends(std::size_t count, std::size_t max_shown, Format format) {
  std::string text;
  const bool whole = count <= max_shown;
  const std::size_t end = whole ? count : max_shown / 2;
  for (std::size_t i = 0; i < end; ++i) text += (i == 0 ? "" : ", ") + format(i);
  if (whole) return text;
  text += ", ...";
  for (std::size_t i = count - max_shown / 2; i < count; ++i) text += ", " + format(i);
  return text;
}

std::string format_range(const Tensor& tensor, std::size_t count) {
  double smallest = INFINITY, largest = -INFINITY, sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = number(tensor, i);
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
    sum += value;
  }
  return fmt::format("smallest {:.6g}, largest {:.6g}, mean {:.6g}", smallest, largest,
                     sum / static_cast<double>(count));
}

}  // namespace

std::string output_heading(std::string_view name, DataType type, const Shape& shape) {
  return fmt::format("output '{}' {} {}", log::printable(name), data_type_name(type),
                     shape.to_string());
}

bool is_classification(const TensorDescription& output, bool batches) {
  if (output.type == DataType::kBytes || output.type == DataType::kBool ||
      output.type == DataType::kInvalid || output.shape.empty()) {
    return false;
  }
  const std::size_t first = batches ? 1 : 0;
  const std::size_t last = output.shape.rank() - 1;
  if (last < first || output.shape[last] < 2) return false;
  for (std::size_t i = first; i < last; ++i) {
    if (output.shape[i] != 1) return false;
  }
  return true;
}

Result<std::string> format_classes(const Tensor& classes) {
  PROA_ASSIGN(const auto elements,
              read_bytes_elements(classes.data.bytes(), classes.shape.element_count().value_or(0)));
  std::string text;
  for (const std::string_view element : elements) {
    const std::size_t value_end = element.find(':');
    if (value_end == std::string_view::npos) {
      return error::internal("'{}' is no class of the form value:index:label",
                             log::printable(element));
    }
    const std::size_t index_end = std::min(element.find(':', value_end + 1), element.size());
    const std::string_view value = element.substr(0, value_end);
    const std::string_view index = element.substr(value_end + 1, index_end - value_end - 1);
    const auto score = parse_number<double>(value);
    const std::string shown = score ? fmt::format("{:.4f}", *score) : log::printable(value);
    const std::string_view label = element.substr(std::min(index_end + 1, element.size()));
    text += fmt::format("  {:>10}  {:>5}{}{}\n", shown, log::printable(index),
                        label.empty() ? "" : "  ", log::printable(label));
  }
  return text;
}

std::string format_tensor(const Tensor& tensor, std::size_t max_shown) {
  const auto count = static_cast<std::size_t>(tensor.shape.element_count().value_or(0));
  if (count == 0) return "  no elements\n";
  if (tensor.type == DataType::kBytes) {
    const auto elements =
        read_bytes_elements(tensor.data.bytes(), static_cast<std::int64_t>(count));
    if (!elements) return fmt::format("  {}\n", elements.error().message);
    const auto format = [&](std::size_t i) { return format_text((*elements)[i]); };
    return fmt::format("  {}\n", join_ends(count, max_shown, format));
  }
  const auto format = [&](std::size_t i) { return format_number(tensor, i); };
  std::string text = fmt::format("  {}\n", join_ends(count, max_shown, format));
  if (count > max_shown) text += fmt::format("  {}\n", format_range(tensor, count));
  return text;
}

Result<Tensor> softmax(const Tensor& tensor) {
  if (tensor.type != DataType::kFp32 && tensor.type != DataType::kFp64) {
    return error::invalid_argument("softmax wants FP32 or FP64, not {}",
                                   data_type_name(tensor.type));
  }
  const std::size_t row =
      tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.dims().back());
  const auto count = static_cast<std::size_t>(tensor.shape.element_count().value_or(0));
  Tensor result{DataType::kFp32, tensor.shape, BufferView(Buffer::allocate(count * sizeof(float)))};
  auto* out = reinterpret_cast<float*>(result.data.data());
  for (std::size_t begin = 0; row > 0 && begin < count; begin += row) {
    double largest = -INFINITY, sum = 0;
    for (std::size_t i = begin; i < begin + row; ++i)
      largest = std::max(largest, number(tensor, i));
    for (std::size_t i = begin; i < begin + row; ++i) sum += std::exp(number(tensor, i) - largest);
    for (std::size_t i = begin; i < begin + row; ++i) {
      out[i] = static_cast<float>(std::exp(number(tensor, i) - largest) / sum);
    }
  }
  return result;
}

}  // namespace proa
