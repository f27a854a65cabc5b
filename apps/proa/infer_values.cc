#include "infer_values.h"

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "base/text.h"
#include "npy.h"
#include "protocol/typed.h"
#include "storage/local_folder.h"
#include "tensor/bytes_tensor.h"

namespace proa {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

template <class Value>
std::optional<Value> parse_value(std::string_view text) {
  text = without_spaces(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return parse_number<Value>(text);
}

// Calls `body` with a zero of the C++ type of `type`; false for FP16, BF16 and BYTES.
template <class Body>
bool visit_type(DataType type, Body body) {
  if (element_size(type) == 0) return false;
  return protocol::visit_element_type(type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::same_as<T, bool>) {
      body(std::uint8_t{});
    } else if constexpr (protocol::NumericElement<T>) {
      body(T{});
    }
    return protocol::NumericElement<T>;
  });
}

// True when `value` is a number of type To, rounded at most by FP32's precision.
template <class To, class From>
bool fits(From value) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return std::in_range<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    // Both bounds are exact in double; the upper one is the first value that does not fit.
    constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
    const double high = std::ldexp(1.0, std::numeric_limits<To>::digits);
    return std::trunc(value) == value && value >= kLow && value < high;
  } else {
    return true;
  }
}

template <class From, class To>
Status convert_elements(const Tensor& from, Buffer& to) {
  const std::size_t count = from.data.size / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data.data() + i * sizeof(From), sizeof(From));
    if (!fits<To>(value)) {
      return error::invalid_argument("element {} is {}, which does not fit", i, value);
    }
    const To converted = static_cast<To>(value);
    std::memcpy(to.data() + i * sizeof(To), &converted, sizeof(To));
  }
  return {};
}

// Booleans of any case are 1 and 0.
std::string_view spell_out(std::string_view text) {
  if (text == "true" || text == "True") return "1";
  if (text == "false" || text == "False") return "0";
  return text;
}

Result<Tensor> parse_numbers(DataType type, const std::vector<std::string_view>& texts) {
  Tensor tensor{type, Shape{static_cast<std::int64_t>(texts.size())}, {}};
  Buffer buffer = Buffer::allocate(texts.size() * element_size(type));
  Status status;
  const bool known = visit_type(type, [&](auto zero) {
    using Value = decltype(zero);
    for (std::size_t i = 0; i < texts.size() && status; ++i) {
      const auto value = parse_value<Value>(spell_out(texts[i]));
      if (!value) {
        status = error::invalid_argument("'{}' is no {}", texts[i], data_type_name(type));
        return;
      }
      std::memcpy(buffer.data() + i * sizeof(Value), &*value, sizeof(Value));
    }
  });
  if (!known) {
    return error::invalid_argument("{} values cannot be written by hand; give an .npy file",
                                   data_type_name(type));
  }
  if (!status) return std::move(status).error();
  tensor.data = BufferView(std::move(buffer));
  return tensor;
}

Tensor make_bytes(const std::vector<std::string_view>& elements) {
  std::string bytes;
  for (const std::string_view element : elements) append_bytes_element(bytes, element);
  Buffer buffer = Buffer::allocate(bytes.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return {DataType::kBytes, Shape{static_cast<std::int64_t>(elements.size())},
          BufferView(std::move(buffer))};
}

// "[2,3]:rest": the shape, and `text` becomes the rest.
Result<std::optional<Shape>> take_shape(std::string_view& text) {
  if (!text.starts_with('[')) return std::optional<Shape>();
  const std::size_t end = text.find("]:");
  const Error malformed =
      error::invalid_argument("'{}' has a shape that is not like [2,3]:values", text);
  if (end == std::string_view::npos) return malformed;
  std::optional<Shape> shape(std::in_place);
  const std::string_view extents = text.substr(1, end - 1);
  for (const std::string_view part : split(extents, ',')) {
    if (without_spaces(extents).empty()) break;
    const auto extent = parse_value<std::int64_t>(part);
    if (!extent || *extent < 0) return malformed;
    shape->push_back(*extent);
  }
  text.remove_prefix(end + 2);
  return shape;
}

// The input's shape with `count` elements in the place of its one open extent; nothing when that
// does not work out. The batch is 1 when that leaves the other extents to be found.
std::optional<Shape> infer_shape(const Shape& pattern, bool batches, std::int64_t count) {
  std::optional<Shape> shape(pattern);
  std::int64_t known = 1;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < pattern.rank(); ++i) {
    if (pattern[i] == Shape::kAny) {
      open.push_back(i);
    } else {
      known *= pattern[i];
    }
  }
  if (batches && open.size() > 1 && open.front() == 0) {
    (*shape)[0] = 1;
    open.erase(open.begin());
  }
  if (open.size() > 1) return std::nullopt;
  if (open.size() == 1) {
    if (known == 0 || count % known != 0) return std::nullopt;
    (*shape)[open.front()] = count / known;
  } else if (known != count) {
    return std::nullopt;
  }
  return shape;
}

std::vector<std::string_view> repeat(std::string_view value, std::int64_t count) {
  return std::vector<std::string_view>(static_cast<std::size_t>(count), value);
}

Result<Tensor> parse_values(const TensorDescription& description, bool batches,
                            std::string_view text) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 28;
  PROA_ASSIGN(std::optional<Shape> shape, take_shape(text));
  std::vector<std::string_view> texts = split(text, ',');
  if (shape) {
    const auto count = shape->element_count();
    if (!count || *count > kMostElements) {
      return error::invalid_argument("{} is too large", shape->to_string());
    }
    if (texts.size() == 1) texts = repeat(texts[0], *count);
    if (static_cast<std::int64_t>(texts.size()) != *count) {
      return error::invalid_argument("{} values do not fill {}", texts.size(), shape->to_string());
    }
  } else {
    shape = infer_shape(description.shape, batches, static_cast<std::int64_t>(texts.size()));
    if (!shape) {
      return error::invalid_argument(
          "{} values do not tell the shape; write it in front, like "
          "[2,3]:1,2,3,4,5,6 or [2,3]:0",
          texts.size());
    }
  }
  Tensor tensor;
  if (description.type == DataType::kBytes) {
    tensor = make_bytes(texts);
  } else {
    PROA_ASSIGN(tensor, parse_numbers(description.type, texts));
  }
  tensor.shape = *shape;
  return tensor;
}

Result<Tensor> read_input_file(const TensorDescription& description, std::string_view path) {
  if (path.ends_with(".npy")) {
    PROA_ASSIGN(const Tensor array, read_npy(path));
    return convert_type(array, description.type);
  }
  if (description.type != DataType::kBytes) {
    return error::invalid_argument("{} is no .npy file, which {} inputs need", path,
                                   data_type_name(description.type));
  }
  PROA_ASSIGN(const std::string content, storage::read_file(path, kMaxFileBytes));
  return make_bytes_tensor(content);
}

Result<Tensor> make_tensor(const TensorDescription& description, bool batches,
                           std::string_view value) {
  Tensor tensor;
  if (value.starts_with('@')) {
    PROA_ASSIGN(tensor, read_input_file(description, value.substr(1)));
  } else {
    PROA_ASSIGN(tensor, parse_values(description, batches, value));
  }
  if (batches && tensor.shape.rank() + 1 == description.shape.rank()) {
    tensor.shape = tensor.shape.with_first(1);
  }
  if (!tensor.shape.matches(description.shape)) {
    return error::invalid_argument("its shape is {}, the model wants {}{}",
                                   tensor.shape.to_string(), description.shape.to_string(),
                                   batches ? " (batch first)" : "");
  }
  return tensor;
}

}  // namespace

Result<InputArgument> parse_input_argument(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    return error::invalid_argument(
        "--input {}: wanted NAME=VALUE, like x=@array.npy or x=[1,4]:1,2,3,4", argument);
  }
  return InputArgument{std::string(argument.substr(0, equals)),
                       std::string(argument.substr(equals + 1))};
}

Result<Tensor> convert_type(const Tensor& tensor, DataType to) {
  if (tensor.type == to) return tensor;
  // Bits of BF16 come as UINT16 from NumPy.
  if (to == DataType::kBf16 && tensor.type == DataType::kUint16) {
    return Tensor{to, tensor.shape, tensor.data};
  }
  Status status = error::invalid_argument("{} does not convert to {}", data_type_name(tensor.type),
                                          data_type_name(to));
  PROA_ASSIGN(const std::size_t bytes,
              dense_byte_size(to == DataType::kBytes ? tensor.type : to, tensor.shape));
  Buffer buffer = Buffer::allocate(bytes);
  visit_type(tensor.type, [&](auto from) {
    visit_type(to, [&](auto result) {
      status = convert_elements<decltype(from), decltype(result)>(tensor, buffer);
    });
  });
  if (!status) return std::move(status).error();
  return Tensor{to, tensor.shape, BufferView(std::move(buffer))};
}

Tensor make_bytes_tensor(std::string_view element) { return make_bytes({element}); }

Result<Tensor> make_input(const TensorDescription& description, bool batches,
                          std::string_view value) {
  auto tensor = make_tensor(description, batches, value);
  if (tensor) return tensor;
  constexpr std::size_t kShown = 60;
  return error::invalid_argument("input '{}' ({} {}) = {}{}: {}", description.name,
                                 data_type_name(description.type), description.shape.to_string(),
                                 value.substr(0, kShown), value.size() > kShown ? "..." : "",
                                 tensor.error().message);
}

}  // namespace proa
