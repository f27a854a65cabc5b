#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

// Relu with an upper bound, as a function whose bound may come later.
bool is_clip(const Activation& act) {
  return act.function == Function::kClamp && act.low == 0 && act.high > 0;
}

// Where a reader takes its upper bound; null when it has no place for one.
float* input_max_of(const Graph& graph, Node& node, ValueId value) {
  if (node.input(0) != value) return nullptr;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == value) return nullptr;
  }
  if (auto* conv = std::get_if<Conv>(&node.op)) {
    return depthwise_obstacle(graph, node).empty() ? &conv->input_max : nullptr;
  }
  if (auto* reduce = std::get_if<Reduce>(&node.op)) {
    return spatial_mean_obstacle(graph, node).empty() ? &reduce->input_max : nullptr;
  }
  return nullptr;
}

// max(x, c) or min(x, c) as bounds of x; nothing for other nodes.
std::optional<Activation> bounds_of(const Graph& graph, const Node& node, ValueId& x) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || !is_identity(binary->act)) return std::nullopt;
  const bool maximum = binary->kind == BinaryKind::kMaximum;
  if (!maximum && binary->kind != BinaryKind::kMinimum) return std::nullopt;
  for (const std::size_t side : {0u, 1u}) {
    const Value& constant = graph.value(node.inputs[side]);
    x = node.inputs[1 - side];
    const bool scalar = constant.constant && constant.elements() == 1;
    const Value& output = graph.value(node.output());
    if (!scalar || graph.value(x).shape != output.shape || graph.is_constant(x)) continue;
    if (output.type != DataType::kFp32 && output.type != DataType::kFp16) continue;
    constexpr float kFar = std::numeric_limits<float>::infinity();
    const float bound = constant_floats(constant).front();
    return maximum ? Activation{Function::kClamp, bound, kFar}
                   : Activation{Function::kClamp, -kFar, bound};
  }
  return std::nullopt;
}

// `outer` after `inner`, both bounds.
Activation both(const Activation& inner, const Activation& outer) {
  const float low = std::clamp(inner.low, outer.low, outer.high);
  const float high = std::clamp(inner.high, outer.low, outer.high);
  return {Function::kClamp, low, high};
}

}  // namespace

Result<std::size_t> bounds_to_clamp(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    ValueId x = kNoValue;
    std::optional<Activation> bounds = bounds_of(graph, graph.nodes[i], x);
    if (!bounds) continue;
    const Uses uses(graph);
    const int above = uses.producer[static_cast<std::size_t>(x)];
    const auto* inner =
        above < 0 ? nullptr : std::get_if<Unary>(&graph.nodes[static_cast<std::size_t>(above)].op);
    if (inner != nullptr && inner->act.function == Function::kClamp &&
        uses.sole_reader(x) == static_cast<int>(i)) {
      bounds = both(inner->act, *bounds);
      x = graph.nodes[static_cast<std::size_t>(above)].inputs[0];
    }
    graph.nodes[i] = Node{Unary{*bounds}, {x}, graph.nodes[i].outputs};
    ++changes;
  }
  for (Node& node : graph.nodes) {
    auto* unary = std::get_if<Unary>(&node.op);
    if (unary == nullptr || unary->act.function != Function::kClamp) continue;
    if (unary->act.low == 0 && std::isinf(unary->act.high)) unary->act = {Function::kRelu};
  }
  return changes;
}

Result<std::size_t> defer_clip(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  const Uses uses(graph);
  for (Node& node : graph.nodes) {
    auto* conv = std::get_if<Conv>(&node.op);
    const ValueId value = node.output();
    const auto index = static_cast<std::size_t>(value);
    if (conv == nullptr || conv->groups != 1 || !is_clip(conv->act) ||
        graph.value(value).type != DataType::kFp16 || uses.is_output[index]) {
      continue;
    }
    std::vector<float*> bounds;
    for (const int reader : uses.readers[index]) {
      bounds.push_back(input_max_of(graph, graph.nodes[static_cast<std::size_t>(reader)], value));
    }
    const bool all = std::ranges::none_of(bounds, [](const float* b) { return b == nullptr; });
    if (bounds.empty() || !all) continue;
    for (float* bound : bounds) *bound = conv->act.high;
    conv->act = {Function::kRelu};
    ++changes;
  }
  return changes;
}

}  // namespace proa::engine::passes
