#pragma once

#include <span>
#include <vector>

#include "engine/graph/graph.h"

namespace proa::engine {

// A tensor of the reference: dense, row-major, every type widened to float.
struct HostTensor {
  Shape shape;
  std::vector<float> data;
};

// Computes one operator with plain loops and float sums: what every other implementation is
// checked against. `inputs` as the node has them, nullptr where absent; types already checked by
// infer(). The result is not yet rounded to the output's type.
HostTensor run_reference(const Op& op, std::span<const HostTensor* const> inputs,
                         const Shape& output);

// Rounds to what `type` can hold, in place.
void round_to(DataType type, std::vector<float>& numbers);

// Runs a whole graph, rounding each value to its type, and returns its outputs. Inputs in the order
// of graph.inputs. Errors: kInvalidArgument naming the input whose shape is wrong.
Result<std::vector<HostTensor>> run_graph(const Graph& graph, std::span<const HostTensor> inputs);

// The operators, one file each group; use run_reference().
namespace host {
HostTensor conv(const Conv& op, const HostTensor& x, const HostTensor& weight,
                const HostTensor* bias, const HostTensor* residual, const Shape& output);
HostTensor matmul(const MatMul& op, const HostTensor& a, const HostTensor& b,
                  const HostTensor* bias, const HostTensor* residual, const Shape& output);
HostTensor pool(const Pool& op, const HostTensor& x, const Shape& output);
HostTensor binary(const Binary& op, const HostTensor& a, const HostTensor& b, const Shape& output);
HostTensor unary(const Unary& op, const HostTensor& x);
HostTensor reduce(const Reduce& op, const HostTensor& x, const Shape& output);
HostTensor transpose(const Dims& order, const HostTensor& x);
HostTensor softmax(const Softmax& op, const HostTensor& x);
HostTensor concat(const Concat& op, std::span<const HostTensor* const> inputs, const Shape& output);
HostTensor batch_norm(const BatchNorm& op, std::span<const HostTensor* const> inputs);
HostTensor lrn(const Lrn& op, const HostTensor& x);
HostTensor pad(const Pad& op, const HostTensor& x, const Shape& output);
HostTensor pack(const Pack& op, const HostTensor& x, const HostTensor* scale,
                const HostTensor* shift, const Shape& output);
HostTensor stem(const Stem& op, std::span<const HostTensor* const> inputs, const Shape& output);
}  // namespace host

}  // namespace proa::engine
