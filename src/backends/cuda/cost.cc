#include "backends/cuda/cost.h"

#include <algorithm>

#include "openvino/op/convolution.hpp"
#include "openvino/op/group_conv.hpp"
#include "openvino/op/matmul.hpp"

namespace proa::backends::cuda {
namespace {

// Per microsecond.
constexpr double kGpuOperations = 2e7, kGpuBytes = 2e6;
constexpr double kCpuOperations = 3e4, kCpuBytes = 1e4;  // a core; the memory of all
constexpr double kLaunch = 3;

double elements(const Shape& shape) {
  return static_cast<double>(shape.element_count().value_or(0));
}

double bytes_of(const ov::Output<ov::Node>& port, const ShapeOf& shape_of) {
  return elements(shape_of(port)) * static_cast<double>(port.get_element_type().size());
}

// Sums that each number of the result takes.
double sum_length(const ov::Node& node, const ShapeOf& shape_of) {
  if (ov::is_type<ov::op::v0::MatMul>(&node)) {
    const bool turned = static_cast<const ov::op::v0::MatMul&>(node).get_transpose_a();
    const Shape a = shape_of(node.input_value(0));
    return a.rank() < 2 ? 0 : static_cast<double>(a[a.rank() - (turned ? 2 : 1)]);
  }
  const bool single = ov::is_type<ov::op::v1::Convolution>(&node);
  if (!single && !ov::is_type<ov::op::v1::GroupConvolution>(&node)) return 0;
  // [K, C, R, S], or with the groups in front.
  const Shape weight = shape_of(node.input_value(1));
  double length = 1;
  for (std::size_t i = single ? 1 : 2; i < weight.rank(); ++i) {
    length *= static_cast<double>(weight[i]);
  }
  return length;
}

}  // namespace

std::size_t result_bytes(const ov::Node& node, const ShapeOf& shape_of) {
  double sum = 0;
  for (std::size_t i = 0; i < node.get_output_size(); ++i) {
    const ov::Output<ov::Node> port(std::const_pointer_cast<ov::Node>(node.shared_from_this()), i);
    sum += bytes_of(port, shape_of);
  }
  return static_cast<std::size_t>(sum);
}

double saved_us(const ov::Node& node, const ShapeOf& shape_of, std::int64_t rows, int processors) {
  const ov::Output<ov::Node> result(std::const_pointer_cast<ov::Node>(node.shared_from_this()), 0);
  const double operations =
      2 * elements(shape_of(result)) * sum_length(node, shape_of) * static_cast<double>(rows);
  double bytes = static_cast<double>(result_bytes(node, shape_of));
  for (const auto& input : node.input_values()) bytes += bytes_of(input, shape_of);
  bytes *= static_cast<double>(rows);
  const double cpu = std::max(operations / (kCpuOperations * processors), bytes / kCpuBytes);
  const double gpu = kLaunch + std::max(operations / kGpuOperations, bytes / kGpuBytes);
  return cpu - gpu;
}

}  // namespace proa::backends::cuda
