#pragma once

#include "base/result.h"
#include "protocol/json_source.h"
#include "simdjson.h"
#include "tensor/buffer.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace proa::protocol {

// Reads the `data` member of an input, nested or flat, into the row-major bytes of a tensor of that
// type and shape. The caller has made sure that `data` is an array.
// Errors: kInvalidArgument for syntax errors, values of another type or beyond its range, another
// number of elements than the shape has, FP16 and BF16 (which have no JSON form), more than
// `max_depth` nested arrays. Messages do not name the input.
Result<BufferView> read_json_data(const JsonSource& source, simdjson::ondemand::array& data,
                                  DataType type, const Shape& shape, int max_depth);

}  // namespace proa::protocol
