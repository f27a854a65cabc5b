#pragma once

#include "base/result.h"
#include "loadgen/payloads.h"
#include "protocol/json_source.h"
#include "simdjson.h"

namespace proa::loadgen {

// One tensor of an --input-data file: a list of values, {"content": ..., "shape": [...]} or
// {"b64": "..."}; see input_json.h. Its shape is `wanted`'s unless the file gives one.
// Errors: kInvalidArgument; messages do not name the tensor.
Result<Tensor> read_json_tensor(const protocol::JsonSource& source,
                                simdjson::ondemand::value& value, const TensorSignature& wanted);

}  // namespace proa::loadgen
