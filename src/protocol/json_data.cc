#include "protocol/json_data.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "protocol/typed.h"
#include "tensor/bytes_tensor.h"
#include "tensor/tensor.h"

namespace proa::protocol {
namespace {

namespace ondemand = simdjson::ondemand;

// What Triton's parser takes for numbers beyond JSON.
std::optional<double> parse_special(std::string_view token) {
  if (token == "NaN") return std::numeric_limits<double>::quiet_NaN();
  const bool negative = token.starts_with('-');
  if (negative) token.remove_prefix(1);
  if (token != "Infinity" && token != "Inf") return std::nullopt;
  const double infinity = std::numeric_limits<double>::infinity();
  return negative ? -infinity : infinity;
}

// Reads a scalar of JSON as an element of type T; false when it is not one or does not fit.
template <class T>
bool read_element(const JsonSource& source, ondemand::value& value, T& out) {
  if constexpr (std::same_as<T, bool>) {
    if (value.get_bool().get(out) == simdjson::SUCCESS) return true;
    std::uint64_t number = 0;
    if (value.get_uint64().get(number) != simdjson::SUCCESS || number > 1) return false;
    out = number == 1;
    return true;
  } else if constexpr (std::signed_integral<T>) {
    std::int64_t number = 0;
    return value.get_int64().get(number) == simdjson::SUCCESS && convert_element(number, out);
  } else if constexpr (std::unsigned_integral<T>) {
    std::uint64_t number = 0;
    return value.get_uint64().get(number) == simdjson::SUCCESS && convert_element(number, out);
  } else {
    double number = 0;
    if (value.get_double().get(number) != simdjson::SUCCESS) {
      const std::optional<double> special = parse_special(source.token(value));
      if (!special) return false;
      number = *special;
    }
    return convert_element(number, out);
  }
}

// Walks nested arrays and hands every scalar to a Sink: bool Sink::add(ondemand::value&), false
// when the value is no element of the tensor's type.
template <class Sink>
class DataReader {
 public:
  DataReader(const JsonSource& source, DataType type, std::int64_t count, Sink& sink)
      : source_(source), type_(type), count_(count), sink_(sink) {}

  Status read(ondemand::array& array, int levels_left) {
    for (auto item : array) {
      ondemand::value value;
      ondemand::json_type type{};
      if (const auto code = std::move(item).get(value)) return source_.syntax_error(code);
      // Words like NaN have no JSON type; read_element() decides about them.
      const bool known = value.type().get(type) == simdjson::SUCCESS;
      if (known && type == ondemand::json_type::array) {
        PROA_TRY(descend(value, levels_left - 1));
        continue;
      }
      if (read_ == count_) return too_many(value);
      if (!sink_.add(value)) return wrong_element(value);
      ++read_;
    }
    return {};
  }

  std::int64_t elements_read() const { return read_; }

 private:
  Status descend(ondemand::value& value, int levels_left) {
    if (levels_left == 0) {
      return source_.error_at(source_.token(value).data(), "arrays are nested too deeply");
    }
    ondemand::array nested;
    if (const auto code = value.get_array().get(nested)) return source_.syntax_error(code);
    return read(nested, levels_left);
  }

  Error too_many(ondemand::value& value) const {
    return source_.error_at(source_.token(value).data(),
                            fmt::format("data has more than the {} elements of its shape", count_));
  }

  Error wrong_element(ondemand::value& value) const {
    return source_.error_at(
        source_.token(value).data(),
        fmt::format("{} is not a value of type {}", source_.summary(value), data_type_name(type_)));
  }

  const JsonSource& source_;
  DataType type_;
  std::int64_t count_;
  std::int64_t read_ = 0;
  Sink& sink_;
};

template <class T>
struct NumberSink {
  const JsonSource& source;
  T* next;
  bool add(ondemand::value& value) {
    T element{};
    if (!read_element(source, value, element)) return false;
    *next++ = element;
    return true;
  }
};

struct StringSink {
  std::string bytes;
  bool add(ondemand::value& value) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return false;
    append_bytes_element(bytes, text);
    return true;
  }
};

template <class Sink>
Status read_into(const JsonSource& source, ondemand::array& data, DataType type, const Shape& shape,
                 std::int64_t count, int max_depth, Sink& sink) {
  DataReader<Sink> reader(source, type, count, sink);
  PROA_TRY(reader.read(data, max_depth));
  if (reader.elements_read() == count) return {};
  return error::invalid_argument("shape {} has {} elements but data has {}", shape.to_string(),
                                 count, reader.elements_read());
}

BufferView buffer_of(std::string_view bytes) {
  Buffer buffer = Buffer::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return BufferView(std::move(buffer));
}

}  // namespace

Result<BufferView> read_json_data(const JsonSource& source, ondemand::array& data, DataType type,
                                  const Shape& shape, int max_depth) {
  if (type == DataType::kFp16 || type == DataType::kBf16) {
    return error::invalid_argument(
        "{} values have no JSON form: send them as binary data (parameter binary_data_size)",
        data_type_name(type));
  }
  const std::optional<std::int64_t> count = shape.element_count();
  // An element takes two bytes of JSON at least: bounds what a shape can make us allocate.
  if (!count || *count > static_cast<std::int64_t>(source.text().size())) {
    return error::invalid_argument(
        "shape {} has more elements than the request can hold, or a "
        "negative extent",
        shape.to_string());
  }
  if (type == DataType::kBytes) {
    StringSink sink;
    PROA_TRY(read_into(source, data, type, shape, *count, max_depth, sink));
    return buffer_of(sink.bytes);
  }
  return visit_element_type(type, [&]<class T>(std::type_identity<T>) -> Result<BufferView> {
    if constexpr (NumericElement<T>) {
      Buffer buffer = Buffer::allocate(static_cast<std::size_t>(*count) * sizeof(T));
      NumberSink<T> sink{source, reinterpret_cast<T*>(buffer.data())};
      PROA_TRY(read_into(source, data, type, shape, *count, max_depth, sink));
      return BufferView(std::move(buffer));
    } else {
      PROA_CHECK(false, "16-bit floats are refused before");
    }
  });
}

}  // namespace proa::protocol
