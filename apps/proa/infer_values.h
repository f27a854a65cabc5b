#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "predictor.h"
#include "tensor/tensor.h"

namespace proa {

// `--input NAME=VALUE`, taken apart.
struct InputArgument {
  std::string name;
  std::string value;
};
Result<InputArgument> parse_input_argument(std::string_view argument);

// The tensor for input `description` out of what the user wrote:
//   @file.npy             an array of NumPy
//   @file                 BYTES inputs: the file's content as one element
//   1,2,3                 numbers, or texts for BYTES inputs
//   [2,3]:1,2,3,4,5,6     the same with their shape; a single value fills it
// Numbers are converted to the input's type. A missing batch dimension is added, and the shape of
// plain values follows from the input's when at most one extent is open.
// Errors: kInvalidArgument naming the input, what was written and what is wanted.
Result<Tensor> make_input(const TensorDescription& description, bool batches,
                          std::string_view value);

// Numbers in another type; values that do not fit it are an error. FP16 and BF16 convert only to
// themselves.
Result<Tensor> convert_type(const Tensor& tensor, DataType to);

// One BYTES element, shape [1].
Tensor make_bytes_tensor(std::string_view element);

}  // namespace proa
