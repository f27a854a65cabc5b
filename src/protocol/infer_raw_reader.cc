#include <cstring>

#include "protocol/infer_json.h"
#include "tensor/tensor.h"

namespace proa::protocol {
namespace {

// Makes `fitted` of `shape`: its one unknown extent such that the tensor takes `size` bytes.
Status fit_shape(std::string_view input_name, DataType type, const Shape& shape, std::size_t size,
                 Shape& fitted) {
  fitted = shape;
  std::size_t unknown = shape.rank();
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != Shape::kAny) continue;
    if (unknown != shape.rank()) {
      return error::invalid_argument(
          "a raw request cannot tell the shape of input '{}': {} has several variable extents; "
          "send a JSON header with the shape",
          input_name, shape.to_string());
    }
    unknown = i;
    fitted[i] = 1;
  }
  PROA_ASSIGN(const std::size_t unit, dense_byte_size(type, fitted));
  if (unknown != shape.rank() && unit > 0 && size % unit == 0) {
    fitted[unknown] = static_cast<std::int64_t>(size / unit);
    return {};
  }
  if (unknown == shape.rank() && unit == size) return {};
  return error::invalid_argument(
      "input byte size mismatch for input '{}': the body has {} bytes, which do not fit type {} "
      "and "
      "shape {}",
      input_name, size, data_type_name(type), shape.to_string());
}

// The body as the one element of a BYTES tensor: its length goes in front.
BufferView with_length(const BufferView& body) {
  const auto length = static_cast<std::uint32_t>(body.size);
  Buffer buffer = Buffer::allocate(sizeof length + body.size);
  std::memcpy(buffer.data(), &length, sizeof length);
  if (body.size > 0) std::memcpy(buffer.data() + sizeof length, body.data(), body.size);
  return BufferView(std::move(buffer));
}

}  // namespace

Result<InferRequest> read_raw_infer_request(const BufferView& body, std::string_view input_name,
                                            DataType type, const Shape& shape, bool batches) {
  InferRequest request;
  InferInput& input = request.inputs.emplace_back();
  input.name = input_name;
  input.type = type;
  input.datatype = data_type_name(type);
  if (type == DataType::kBytes) {
    if (shape.rank() != 1 || (shape[0] != 1 && shape[0] != Shape::kAny)) {
      return error::invalid_argument(
          "a raw request is one BYTES element, but input '{}' has shape {}", input_name,
          shape.to_string());
    }
    if (body.size > UINT32_MAX) {
      return error::invalid_argument("a BYTES element of {} bytes is too large", body.size);
    }
    input.shape = {1};
    input.data = with_length(body);
  } else {
    PROA_TRY(fit_shape(input_name, type, shape, body.size, input.shape));
    input.data = body;
  }
  if (batches) input.shape = input.shape.with_first(1);
  request.binary_data_output = true;
  return request;
}

}  // namespace proa::protocol
