#pragma once

#include "engine/cuda/kernels/kernels.h"
#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {

// What the kernels of depthwise.cu and those that make its input themselves want to know of the
// depthwise convolution `node`; the pointers are still missing.
DepthwiseWork depthwise_work(const Graph& graph, const Node& node);

// `work` with the weight and bias that begin at arguments.inputs[at], and the output.
DepthwiseWork with_pointers(DepthwiseWork work, const Arguments& arguments, std::size_t at);

}  // namespace proa::engine::cuda
