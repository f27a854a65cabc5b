#pragma once

#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace proa {

// Typed bytes in row-major order, shared by reference.
// Invariant, kept by whoever makes one: data.size == dense_byte_size(type, shape) for fixed-size
// types; kBytes holds as many length-prefixed elements as the shape says (tensor/bytes_tensor.h).
// Threading: a plain value.
struct Tensor {
  DataType type = DataType::kInvalid;
  Shape shape;
  BufferView data;
};

// Bytes of a dense tensor of that type and shape.
// Errors: kInvalidArgument when an extent is negative, the size overflows, or `type` has no fixed
// element size.
Result<std::size_t> dense_byte_size(DataType type, const Shape& shape);

}  // namespace proa
