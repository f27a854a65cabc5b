#pragma once

#include <string>
#include <vector>

#include "loadgen/payloads.h"

namespace proa::loadgen {

// One inference as it was read or made: what a request of batch size 1 holds. Shapes are without
// the batch dimension.
struct Element {
  std::vector<NamedTensor> inputs;    // in the order of the model's inputs
  std::vector<NamedTensor> expected;  // in the order of the model's outputs
  std::string origin;                 // "data.json: data[3]", for errors
};

// Elements that belong together, in order.
using ElementStream = std::vector<Element>;

// A tensor over a copy of `bytes`.
Tensor tensor_over(DataType type, const Shape& shape, std::string_view bytes);

}  // namespace proa::loadgen
