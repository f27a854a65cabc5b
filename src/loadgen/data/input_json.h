#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/data/element.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// Reads the text of an --input-data file:
//   {"data": [ {"IN": [1, 2], "TEXT": {"content": ["a"], "shape": [1]}}, {"IN": {"b64": "..."}} ]}
// Each object is an element; when the entries of `data` are arrays of objects, each array is a
// stream, else all objects are one. `validation_data` has the same form and holds outputs, wholly
// or in part. A list may be nested or flat. b64 holds the tensor's bytes: little-endian, BYTES with
// their lengths; a BYTES tensor of one element may also be just that element's bytes.
//
// Shapes are without the batch dimension; one that is not given is that of `inputs` (or of the
// model's output), where one open extent follows from the number of values.
//
// `inputs` are the model's, with the shapes that the user gave; `file` is what errors call the
// text. Errors: kInvalidArgument naming file, entry, tensor, what is wanted and what came.
// Source: perf_analyzer's documented input data format.
Result<std::vector<ElementStream>> read_input_json(std::string_view text, const std::string& file,
                                                   const ModelSignature& model,
                                                   const std::vector<TensorSignature>& inputs);

}  // namespace proa::loadgen
