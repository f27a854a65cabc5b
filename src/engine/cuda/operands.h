#pragma once

#include "engine/cuda/kernels/kernels.h"
#include "engine/cuda/step_kernel.h"
#include "engine/graph/infer.h"

namespace proa::engine::cuda {

// From the graph's terms to those of the kernels.

// Only for types that the implementation list lets through.
Number number_of(DataType type);

// Input `i` of a launch, null when absent.
Source source_of(const Graph& graph, const Node& node, const Arguments& arguments, std::size_t i);

ConvShape conv_shape(const Graph& graph, const Node& node);
StemShape stem_shape(const Graph& graph, const Node& node);
PoolShape pool_shape(const Graph& graph, const Node& node);
Extents extents_of(const Shape& shape);
// The dense strides of `shape`, seen from `output` by numpy broadcasting.
Strides broadcast_strides(const Shape& shape, const Shape& output);

}  // namespace proa::engine::cuda
