#pragma once

#include "backends/openvino/signature.h"
#include "base/result.h"
#include "config/model_config.h"

namespace proa::backends::openvino {

// Fills what `config` leaves open from the model's signature: inputs and outputs that are not
// listed, types and dims that are not given, and, unless `max_batch_size_given`, max_batch_size and
// dynamic batching: a model batches when the first extent of all its inputs and outputs is open.
// Scalars become dims [1] with an empty reshape. Outputs that are listed stay the only ones.
// Errors: kInvalidArgument or kUnimplemented naming the tensor (unknown names, types that are not
// served, open ranks). Whether what is given fits the model is bind()'s to say.
// Source: Triton's auto-complete rules for ONNX models.
Status complete_from_signature(const Signature& signature, bool max_batch_size_given,
                               config::ModelConfig& config);

}  // namespace proa::backends::openvino
