#include "engine/host/reference.h"

#include <algorithm>

#include "engine/half.h"

namespace proa::engine {
namespace {

using Inputs = std::span<const HostTensor* const>;

const HostTensor* at(Inputs inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i] : nullptr;
}

// x as an operator with `input_max` reads it; `clipped` holds what has to be made.
const HostTensor& clip(const HostTensor& x, float input_max, HostTensor& clipped) {
  if (input_max <= 0) return x;
  clipped = x;
  for (float& number : clipped.data) number = std::min(number, input_max);
  return clipped;
}

// One overload per operator; run_reference() picks by the variant.
struct Runner {
  Inputs in;
  const Shape& out;

  HostTensor operator()(const Conv& op) const {
    HostTensor clipped;
    return host::conv(op, clip(*in[0], op.input_max, clipped), *in[1], at(in, 2), at(in, 3), out);
  }
  HostTensor operator()(const MatMul& op) const {
    return host::matmul(op, *in[0], *in[1], at(in, 2), at(in, 3), out);
  }
  HostTensor operator()(const Binary& op) const { return host::binary(op, *in[0], *in[1], out); }
  HostTensor operator()(const Unary& op) const { return host::unary(op, *in[0]); }
  HostTensor operator()(const Pool& op) const { return host::pool(op, *in[0], out); }
  HostTensor operator()(const Reduce& op) const {
    HostTensor clipped;
    return host::reduce(op, clip(*in[0], op.input_max, clipped), out);
  }
  HostTensor operator()(const Reshape&) const { return HostTensor{out, in[0]->data}; }
  HostTensor operator()(const Transpose& op) const { return host::transpose(op.order, *in[0]); }
  HostTensor operator()(const Softmax& op) const { return host::softmax(op, *in[0]); }
  HostTensor operator()(const Convert&) const { return *in[0]; }
  HostTensor operator()(const Concat& op) const { return host::concat(op, in, out); }
  HostTensor operator()(const BatchNorm& op) const { return host::batch_norm(op, in); }
  HostTensor operator()(const Lrn& op) const { return host::lrn(op, *in[0]); }
  HostTensor operator()(const Pad& op) const { return host::pad(op, *in[0], out); }
  HostTensor operator()(const Pack& op) const {
    return host::pack(op, *in[0], at(in, 1), at(in, 2), out);
  }
  HostTensor operator()(const Stem& op) const { return host::stem(op, in, out); }
};

}  // namespace

HostTensor run_reference(const Op& op, Inputs inputs, const Shape& output) {
  return std::visit(Runner{inputs, output}, op);
}

void round_to(DataType type, std::vector<float>& numbers) {
  if (type == DataType::kFp32) return;
  if (type == DataType::kFp16) {
    for (float& number : numbers) number = half_to_float(float_to_half(number));
    return;
  }
  numbers = unpack_floats(type, pack_floats(type, numbers).bytes(), numbers.size());
}

Result<std::vector<HostTensor>> run_graph(const Graph& graph, std::span<const HostTensor> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    return error::invalid_argument("graph '{}' has {} inputs; {} came", graph.name,
                                   graph.inputs.size(), inputs.size());
  }
  std::vector<HostTensor> values(graph.values.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& wanted = graph.value(graph.inputs[i]);
    if (inputs[i].shape != wanted.shape) {
      return error::invalid_argument("graph '{}': input '{}' is {}; {} came", graph.name,
                                     wanted.name, wanted.shape.to_string(),
                                     inputs[i].shape.to_string());
    }
    HostTensor& value = values[static_cast<std::size_t>(graph.inputs[i])] = inputs[i];
    round_to(wanted.type, value.data);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.constant) values[i] = HostTensor{value.shape, constant_floats(value)};
  }
  for (const Node& node : graph.nodes) {
    std::vector<const HostTensor*> tensors;
    for (ValueId id : node.inputs) {
      tensors.push_back(id == kNoValue ? nullptr : &values[static_cast<std::size_t>(id)]);
    }
    const Value& output = graph.value(node.output());
    HostTensor result = run_reference(node.op, tensors, output.shape);
    round_to(output.type, result.data);
    values[static_cast<std::size_t>(node.output())] = std::move(result);
  }
  std::vector<HostTensor> results;
  for (ValueId id : graph.outputs) results.push_back(values[static_cast<std::size_t>(id)]);
  return results;
}

}  // namespace proa::engine
