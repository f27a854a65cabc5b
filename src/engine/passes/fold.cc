// Passes that move work from run time to load time.
#include <algorithm>
#include <cmath>

#include "engine/graph/infer.h"
#include "engine/host/reference.h"
#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

// The constant that `node` computes.
Buffer computed_bytes(const Graph& graph, const Node& node) {
  const Value& output = graph.value(node.output());
  if (std::holds_alternative<Reshape>(node.op)) return *graph.value(node.input(0)).constant;
  std::vector<HostTensor> tensors;
  for (ValueId id : node.inputs) {
    if (id == kNoValue) {
      tensors.emplace_back();
    } else {
      tensors.push_back({graph.value(id).shape, constant_floats(graph.value(id))});
    }
  }
  std::vector<const HostTensor*> pointers;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pointers.push_back(node.inputs[i] == kNoValue ? nullptr : &tensors[i]);
  }
  return pack_floats(output.type, run_reference(node.op, pointers, output.shape).data);
}

// Multiplies output channel k of a weight by scale[k]. `axis` is where the output channels stand.
std::vector<float> scaled(std::vector<float> weight, const Shape& shape, std::size_t axis,
                          const std::vector<float>& scale) {
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.rank(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] *= scale[i / inner % scale.size()];
  return weight;
}

std::size_t weight_axis(const Node& node, const Shape& weight) {
  const auto* matmul = std::get_if<MatMul>(&node.op);
  if (matmul == nullptr) return 0;  // [K, ...] in both layouts
  return matmul->transpose_b ? weight.rank() - 2 : weight.rank() - 1;
}

// The bias of `node`, or zeros.
std::vector<float> bias_of(const Graph& graph, const Node& node, std::size_t channels) {
  if (node.input(2) == kNoValue) return std::vector<float>(channels, 0.0f);
  return constant_floats(graph.value(node.input(2)));
}

// y = linear(x) * scale + shift becomes one linear node in the place of `at`.
void absorb(Graph& graph, const Node& linear, Node& at, const std::vector<float>& scale,
            const std::vector<float>& shift) {
  Node fused{linear.op, linear.inputs, at.outputs};
  fused.inputs.resize(3, kNoValue);
  const std::string name = graph.value(at.output()).name;
  std::vector<float> bias = bias_of(graph, linear, scale.size());
  for (std::size_t k = 0; k < bias.size(); ++k) bias[k] = bias[k] * scale[k] + shift[k];
  const auto channels = static_cast<std::int64_t>(bias.size());
  fused.inputs[2] = graph.add_constant(name + ".bias", Shape{channels}, bias);
  if (std::ranges::any_of(scale, [](float s) { return s != 1.0f; })) {
    const Value& weight = graph.value(linear.input(1));
    const Shape shape = weight.shape;
    const std::vector<float> numbers =
        scaled(constant_floats(weight), shape, weight_axis(linear, shape), scale);
    fused.inputs[1] = graph.add_constant(name + ".weight", shape, numbers);
  }
  at = std::move(fused);
}

struct Affine {
  std::vector<float> scale, shift;
};

// `node` as x * scale + shift of its input `side`, when the other one is a constant per channel.
std::optional<Affine> as_affine(const Graph& graph, const Node& node, std::size_t side,
                                std::size_t axis) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || !is_identity(binary->act)) return std::nullopt;
  const Shape& shape = graph.value(node.output()).shape;
  if (graph.value(node.inputs[side]).shape != shape) return std::nullopt;
  auto other = per_channel(graph, node.inputs[1 - side], shape.rank(), axis, shape[axis]);
  if (!other) return std::nullopt;
  const std::vector<float> ones(other->size(), 1.0f), zeros(other->size(), 0.0f);
  const auto negated = [](std::vector<float> numbers) {
    for (float& number : numbers) number = -number;
    return numbers;
  };
  switch (binary->kind) {
    case BinaryKind::kAdd:
      return Affine{ones, *other};
    case BinaryKind::kMultiply:
      return Affine{*other, zeros};
    case BinaryKind::kSubtract:
      return side == 0 ? Affine{ones, negated(*other)} : Affine{negated(ones), *other};
    case BinaryKind::kDivide:
      if (side == 1) return std::nullopt;
      for (float& number : *other) number = 1.0f / number;
      return Affine{*other, zeros};
    default:
      return std::nullopt;
  }
}

// Folds nodes[at] into the linear node that feeds it, when it can.
bool fold_into_producer(Graph& graph, const Uses& uses, std::size_t at) {
  if (!std::holds_alternative<Binary>(graph.nodes[at].op)) return false;
  for (std::size_t side : {0u, 1u}) {
    const ValueId x = graph.nodes[at].inputs[side];
    const int producer = uses.producer[static_cast<std::size_t>(x)];
    if (producer < 0 || uses.sole_reader(x) != static_cast<int>(at)) continue;
    const Node linear = graph.nodes[static_cast<std::size_t>(producer)];
    const ValueId bias = linear.input(2);
    if (!is_open_linear(linear) || !graph.is_constant(linear.input(1)) ||
        (bias != kNoValue && !graph.is_constant(bias)) ||
        graph.value(linear.input(1)).type != DataType::kFp32) {
      continue;
    }
    const auto affine = as_affine(graph, graph.nodes[at], side, *channel_axis(graph, linear));
    if (!affine) continue;
    absorb(graph, linear, graph.nodes[at], affine->scale, affine->shift);
    return true;
  }
  return false;
}

}  // namespace

Result<std::size_t> fold_constants(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (Node& node : graph.nodes) {
    const bool constant = std::ranges::all_of(
        node.inputs, [&](ValueId id) { return id == kNoValue || graph.is_constant(id); });
    if (!constant) continue;
    graph.value(node.output()).constant = computed_bytes(graph, node);
    ++changes;
  }
  std::erase_if(graph.nodes, [&](const Node& node) { return graph.is_constant(node.output()); });
  return changes;
}

Result<std::size_t> batch_norm_to_scale(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node node = graph.nodes[i];
    const auto* norm = std::get_if<BatchNorm>(&node.op);
    if (norm == nullptr) continue;
    if (!std::ranges::all_of(node.inputs.begin() + 1, node.inputs.end(),
                             [&](ValueId id) { return graph.is_constant(id); })) {
      continue;
    }
    const std::vector<float> gamma = constant_floats(graph.value(node.inputs[1]));
    const std::vector<float> mean = constant_floats(graph.value(node.inputs[3]));
    const std::vector<float> variance = constant_floats(graph.value(node.inputs[4]));
    std::vector<float> scale = gamma, shift = constant_floats(graph.value(node.inputs[2]));
    for (std::size_t c = 0; c < scale.size(); ++c) {
      scale[c] = gamma[c] / std::sqrt(variance[c] + norm->epsilon);
      shift[c] -= mean[c] * scale[c];
    }
    Shape shape{static_cast<std::int64_t>(scale.size())};
    const std::size_t rank = graph.value(node.output()).shape.rank();
    for (std::size_t d = 2; norm->layout == Layout::kNchw && d < rank; ++d) shape.push_back(1);
    const std::string name = graph.value(node.output()).name;
    const ValueId scale_id = graph.add_constant(name + ".scale", shape, scale);
    const ValueId shift_id = graph.add_constant(name + ".shift", shape, shift);
    PROA_ASSIGN(const ValueId product,
                graph.insert_node(i, Binary{BinaryKind::kMultiply, {}}, {node.inputs[0], scale_id},
                                  name + ".scaled"));
    graph.nodes[++i] = Node{Binary{BinaryKind::kAdd, {}}, {product, shift_id}, node.outputs};
    ++changes;
  }
  return changes;
}

Result<std::size_t> fold_affine(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  // In order, so that a chain folds step by step into the node in its last place.
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (fold_into_producer(graph, Uses(graph), i)) ++changes;
  }
  return changes;
}

}  // namespace proa::engine::passes
