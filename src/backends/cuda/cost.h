#pragma once

#include <cstddef>
#include <functional>

#include "openvino/core/node.hpp"
#include "tensor/shape.h"

namespace proa::backends::cuda {

// Rough costs of single operators, for deciding on which side of a model they run. The shape of a
// tensor for one row; empty where it is not known.
using ShapeOf = std::function<Shape(const ov::Output<ov::Node>&)>;

// Bytes of its results for one row.
std::size_t result_bytes(const ov::Node& node, const ShapeOf& shape_of);

// Microseconds that a GPU saves against `processors` of the CPU, for `rows` rows: arithmetic of
// convolutions and products, and memory traffic, at middling rates of both (those of an H200 and of
// AVX-512 cores); a launch costs 3 us. May be negative.
double saved_us(const ov::Node& node, const ShapeOf& shape_of, std::int64_t rows, int processors);

}  // namespace proa::backends::cuda
