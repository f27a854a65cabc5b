#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "predictor.h"

namespace proa {

// True for outputs that are scores of classes: numbers with one extent of at least 2 behind the
// batch dimension (or after leading extents of 1).
bool is_classification(const TensorDescription& output, bool batches);

// "output 'probabilities' FP32 [1,1000]"
std::string output_heading(std::string_view name, DataType type, const Shape& shape);

// "value:index:label" elements (classification extension) as lines of score, index and label.
// Errors: kInternal when they are not of that form.
Result<std::string> format_classes(const Tensor& classes);

// A tensor in few lines: all elements when there are at most `max_shown`, else the first and last
// ones; smallest, largest and mean of longer number tensors.
std::string format_tensor(const Tensor& tensor, std::size_t max_shown = 12);

// exp(x) over its sum, along the last axis. Errors: kInvalidArgument unless FP32 or FP64.
Result<Tensor> softmax(const Tensor& tensor);

}  // namespace proa
