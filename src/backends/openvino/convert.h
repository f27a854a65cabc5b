#pragma once

#include <optional>

#include "openvino/core/partial_shape.hpp"
#include "openvino/core/shape.hpp"
#include "openvino/core/type/element_type.hpp"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace proa::backends::openvino {

// Between our types and OpenVINO's.

// kInvalid for strings and for types that KServe does not know (u4, f8...).
DataType from_ov_type(const ov::element::Type& type);
// ov::element::dynamic for kInvalid and kBytes.
ov::element::Type to_ov_type(DataType type);

// Extents that are not one number become kAny; nothing when the rank is open.
std::optional<Shape> from_ov_shape(const ov::PartialShape& shape);
Shape from_ov_shape(const ov::Shape& shape);
ov::PartialShape to_ov_partial_shape(const Shape& shape);
// `shape` is fully known.
ov::Shape to_ov_shape(const Shape& shape);

}  // namespace proa::backends::openvino
