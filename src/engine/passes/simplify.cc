#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

bool does_nothing(const Graph& graph, const Node& node) {
  const Value& out = graph.value(node.output());
  const auto same_as_input = [&] {
    const Value& in = graph.value(node.inputs[0]);
    return in.type == out.type && in.shape == out.shape;
  };
  if (std::holds_alternative<Reshape>(node.op) || std::holds_alternative<Convert>(node.op)) {
    return same_as_input();
  }
  if (const auto* unary = std::get_if<Unary>(&node.op)) return is_identity(unary->act);
  if (const auto* transpose = std::get_if<Transpose>(&node.op)) {
    return is_identity_order(transpose->order);
  }
  return std::holds_alternative<Concat>(node.op) && node.inputs.size() == 1;
}

// The node in front of a reshape or convert that the same one step can do too, or null: another
// reshape, a convert from FP16 to FP32.
const Node* goes_into(const Graph& graph, const Node& node) {
  const bool converts = std::holds_alternative<Convert>(node.op);
  if (!converts && !std::holds_alternative<Reshape>(node.op)) return nullptr;
  const Uses uses(graph);
  const int producer = uses.producer[static_cast<std::size_t>(node.inputs[0])];
  if (producer < 0) return nullptr;
  const Node& above = graph.nodes[static_cast<std::size_t>(producer)];
  if (above.op.index() != node.op.index()) return nullptr;
  const bool widens = converts && graph.value(above.inputs[0]).type == DataType::kFp16 &&
                      graph.value(above.output()).type == DataType::kFp32;
  return widens || !converts ? &above : nullptr;
}

}  // namespace

Result<std::size_t> simplify(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    if (const Node* above = goes_into(graph, node); above != nullptr) {
      node.inputs[0] = above->inputs[0];
      ++changes;
    }
    if (does_nothing(graph, node) && !graph.is_output(node.output())) {
      graph.replace_uses(node.output(), node.inputs[0]);
      ++changes;
    }
  }
  return changes;
}

}  // namespace proa::engine::passes
