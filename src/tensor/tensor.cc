#include "tensor/tensor.h"

namespace proa {

Result<std::size_t> dense_byte_size(DataType type, const Shape& shape) {
  const std::size_t width = element_size(type);
  if (width == 0) {
    return error::invalid_argument("{} elements have no fixed size", data_type_name(type));
  }
  const auto count = shape.element_count();
  std::int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, static_cast<std::int64_t>(width), &bytes)) {
    return error::invalid_argument("shape {} is negative or too large for {}", shape.to_string(),
                                   data_type_name(type));
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace proa
