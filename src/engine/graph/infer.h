#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "engine/graph/op.h"
#include "tensor/shape.h"

namespace proa::engine {

struct TensorType {
  DataType type = DataType::kInvalid;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// The type and shape of each output of `op` over inputs of these types; an absent input is one with
// DataType::kInvalid. Trailing absent inputs may be left out.
// Errors: kInvalidArgument naming the operator, what it wants and what came.
Result<std::vector<TensorType>> infer(const Op& op, std::span<const TensorType> inputs);

// Extents of the output window positions: floor((size + pads - dilation * (kernel - 1) - 1) /
// stride) + 1.
std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                          std::int64_t dilation, std::int64_t pad_begin, std::int64_t pad_end);

// Where N, C, H and W of `layout` stand.
struct ImageAxes {
  std::size_t n, c, h, w;
};
constexpr ImageAxes image_axes(Layout layout) {
  return layout == Layout::kNchw ? ImageAxes{0, 1, 2, 3} : ImageAxes{0, 3, 1, 2};
}

// numpy broadcasting of two shapes. Errors: kInvalidArgument naming both.
Result<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace proa::engine
