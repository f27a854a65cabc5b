#include "backends/openvino/convert.h"

#include <array>
#include <utility>

namespace proa::backends::openvino {
namespace {

using ov::element::Type_t;

constexpr std::array kTypes{
    std::pair{DataType::kBool, Type_t::boolean}, std::pair{DataType::kUint8, Type_t::u8},
    std::pair{DataType::kUint16, Type_t::u16},   std::pair{DataType::kUint32, Type_t::u32},
    std::pair{DataType::kUint64, Type_t::u64},   std::pair{DataType::kInt8, Type_t::i8},
    std::pair{DataType::kInt16, Type_t::i16},    std::pair{DataType::kInt32, Type_t::i32},
    std::pair{DataType::kInt64, Type_t::i64},    std::pair{DataType::kFp16, Type_t::f16},
    std::pair{DataType::kFp32, Type_t::f32},     std::pair{DataType::kFp64, Type_t::f64},
    std::pair{DataType::kBf16, Type_t::bf16},
};

}  // namespace

DataType from_ov_type(const ov::element::Type& type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (type == theirs) return ours;
  }
  return DataType::kInvalid;
}

ov::element::Type to_ov_type(DataType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (type == ours) return theirs;
  }
  return ov::element::dynamic;
}

std::optional<Shape> from_ov_shape(const ov::PartialShape& shape) {
  if (shape.rank().is_dynamic()) return std::nullopt;
  std::optional<Shape> result(std::in_place);
  for (const ov::Dimension& dim : shape) {
    result->push_back(dim.is_static() ? dim.get_length() : Shape::kAny);
  }
  return result;
}

Shape from_ov_shape(const ov::Shape& shape) {
  Shape result;
  for (const std::size_t dim : shape) result.push_back(static_cast<std::int64_t>(dim));
  return result;
}

ov::PartialShape to_ov_partial_shape(const Shape& shape) {
  ov::PartialShape result = ov::PartialShape::dynamic(static_cast<std::int64_t>(shape.rank()));
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != Shape::kAny) result[i] = shape[i];
  }
  return result;
}

ov::Shape to_ov_shape(const Shape& shape) {
  ov::Shape result;
  result.reserve(shape.rank());
  for (const std::int64_t dim : shape) result.push_back(static_cast<std::size_t>(dim));
  return result;
}

}  // namespace proa::backends::openvino
