#include "loadgen/data/json_tensor.h"

#include <algorithm>
#include <optional>
#include <string>

#include "loadgen/data/element.h"
#include "proto/base64.h"
#include "protocol/json_data.h"
#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr int kMaxDepth = 100;
constexpr std::string_view kForms =
    "a list of values, {\"content\": [...], \"shape\": [...]} or {\"b64\": \"...\"}";

std::int64_t open_extents(const Shape& shape) { return std::ranges::count(shape, Shape::kAny); }

// `shape` with its only open extent set so that it has `count` elements.
Result<Shape> fill_open_extent(const TensorSignature& wanted, std::int64_t count) {
  if (open_extents(wanted.shape) == 0) return wanted.shape;
  Shape filled = wanted.shape;
  std::int64_t rest = 1;
  std::size_t open = 0;
  for (std::size_t i = 0; i < filled.rank(); ++i) {
    if (filled[i] == Shape::kAny) {
      open = i;
    } else {
      rest *= filled[i];
    }
  }
  if (open_extents(wanted.shape) > 1 || rest <= 0 || count % rest != 0) {
    return error::invalid_argument(
        "the shape {} does not follow from {} values; give \"shape\" beside \"content\", or "
        "--shape {}:...",
        wanted.shape.to_string(), count, wanted.name);
  }
  filled[open] = count / rest;
  return filled;
}

Result<Tensor> read_list(const protocol::JsonSource& source, ondemand::value& value,
                         const TensorSignature& wanted) {
  ondemand::array values;
  if (value.get_array().get(values)) return source.wanted(value, "content", kForms);
  Shape shape = wanted.shape;
  if (!shape.is_fully_known()) {
    std::size_t count = 0;
    if (const auto code = values.count_elements().get(count)) return source.syntax_error(code);
    PROA_ASSIGN(shape, fill_open_extent(wanted, static_cast<std::int64_t>(count)));
  }
  PROA_ASSIGN(BufferView data,
              protocol::read_json_data(source, values, wanted.type, shape, kMaxDepth));
  return Tensor{wanted.type, shape, std::move(data)};
}

Result<Tensor> decode_strings(const std::string& bytes, const TensorSignature& wanted) {
  Shape shape = wanted.shape;
  for (std::size_t i = 0; i < shape.rank(); ++i) shape[i] = shape[i] == Shape::kAny ? 1 : shape[i];
  const std::int64_t count = shape.element_count().value_or(0);
  const Status checked = check_bytes_elements(std::as_bytes(std::span(bytes)), count);
  if (checked) return tensor_over(wanted.type, shape, bytes);
  if (count != 1) return checked.error();
  std::string element;
  append_bytes_element(element, bytes);
  return tensor_over(wanted.type, shape, element);
}

Result<Tensor> read_base64(const protocol::JsonSource& source, ondemand::value& value,
                           const TensorSignature& wanted) {
  std::string_view text;
  if (value.get_string().get(text)) return source.wanted(value, "b64", "a string");
  const auto bytes = proto::from_base64(text);
  if (!bytes) return error::invalid_argument("b64 is not base64");
  if (wanted.type == DataType::kBytes) return decode_strings(*bytes, wanted);
  const std::size_t size = element_size(wanted.type);
  PROA_ASSIGN(const Shape shape,
              fill_open_extent(wanted, static_cast<std::int64_t>(bytes->size() / size)));
  PROA_ASSIGN(const std::size_t needed, dense_byte_size(wanted.type, shape));
  if (bytes->size() != needed) {
    return error::invalid_argument("b64 holds {} bytes, but {} {} takes {}", bytes->size(),
                                   data_type_name(wanted.type), shape.to_string(), needed);
  }
  return tensor_over(wanted.type, shape, *bytes);
}

Result<Shape> read_shape(const protocol::JsonSource& source, ondemand::value& value) {
  Shape shape;
  PROA_TRY(source.for_each_item(value, "shape", [&](ondemand::value& item) -> Status {
    std::int64_t extent = 0;
    if (item.get_int64().get(extent) || extent < 0) {
      return source.wanted(item, "shape", "a list of whole numbers from 0");
    }
    shape.push_back(extent);
    return {};
  }));
  return shape;
}

Result<Tensor> read_object(const protocol::JsonSource& source, ondemand::object& object,
                           TensorSignature wanted) {
  ondemand::value shape;
  if (!object.find_field_unordered("shape").get(shape)) {
    PROA_ASSIGN(const Shape given, read_shape(source, shape));
    if (!given.matches(wanted.shape)) {
      return error::invalid_argument("\"shape\" is {}, but the model wants {}", given.to_string(),
                                     wanted.shape.to_string());
    }
    wanted.shape = given;
  }
  ondemand::value content;
  if (!object.find_field_unordered("content").get(content)) {
    ondemand::json_type type;
    if (!content.type().get(type) && type == ondemand::json_type::object) {
      ondemand::object inner;
      ondemand::value encoded;
      if (!content.get_object().get(inner) && !inner.find_field_unordered("b64").get(encoded)) {
        return read_base64(source, encoded, wanted);
      }
    }
    return read_list(source, content, wanted);
  }
  ondemand::value encoded;
  if (!object.find_field_unordered("b64").get(encoded)) return read_base64(source, encoded, wanted);
  return error::invalid_argument("wanted {}; the object has neither content nor b64", kForms);
}

}  // namespace

Result<Tensor> read_json_tensor(const protocol::JsonSource& source, ondemand::value& value,
                                const TensorSignature& wanted) {
  ondemand::json_type type;
  if (const auto code = value.type().get(type)) return source.syntax_error(code);
  if (type == ondemand::json_type::array) return read_list(source, value, wanted);
  ondemand::object object;
  if (value.get_object().get(object)) return source.wanted(value, "the tensor", kForms);
  return read_object(source, object, wanted);
}

}  // namespace proa::loadgen
