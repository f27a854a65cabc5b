// Passes that compute several operators in one.
#include <algorithm>

#include "engine/graph/infer.h"
#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

// Convolutions that move by one pixel come first: a matrix product can run them too.
int preference(const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  return conv != nullptr && conv->strides != Dims{1, 1} ? 0 : 1;
}

// The input of an addition whose producer can take the other input as its residual, or nothing.
std::optional<std::size_t> fusable_side(const Graph& graph, const Uses& uses, std::size_t at) {
  const Node& node = graph.nodes[at];
  std::optional<std::size_t> best;
  int best_score = -1;
  for (std::size_t side : {0u, 1u}) {
    const ValueId x = node.inputs[side];
    const ValueId other = node.inputs[1 - side];
    const int producer = uses.producer[static_cast<std::size_t>(x)];
    if (producer < 0 || uses.sole_reader(x) != static_cast<int>(at)) continue;
    // A constant has one row, and the rows of a batch share it.
    if (graph.is_constant(other)) continue;
    const Node& linear = graph.nodes[static_cast<std::size_t>(producer)];
    if (!is_open_linear(linear) || graph.value(other).shape != graph.value(x).shape) continue;
    // Among equals the one that is computed later.
    const int score = preference(linear) * static_cast<int>(graph.nodes.size()) + producer;
    if (score > best_score) {
      best = side;
      best_score = score;
    }
  }
  return best;
}

bool is_projection(const Graph& graph, const Node& node) {
  const auto* conv = std::get_if<Conv>(&node.op);
  if (conv == nullptr || conv->groups != 1) return false;
  const ImageAxes axes = image_axes(conv->layout);  // of weights, too
  const Shape& weight = graph.value(node.inputs[1]).shape;
  return weight[axes.h] == 1 && weight[axes.w] == 1;
}

// Of two 1x1 convolutions, the one that makes the residual for nodes[at] alone comes right before
// it: one kernel may compute both.
void move_projection(Graph& graph, const Uses& uses, ValueId residual, std::size_t at) {
  const int producer = uses.producer[static_cast<std::size_t>(residual)];
  if (producer < 0 || uses.sole_reader(residual) != static_cast<int>(at)) return;
  const auto from = graph.nodes.begin() + producer;
  if (!is_projection(graph, *from) || !is_projection(graph, graph.nodes[at])) return;
  std::rotate(from, from + 1, graph.nodes.begin() + static_cast<std::ptrdiff_t>(at));
}

bool worth_fusing(const Op& producer, const Activation& act) {
  if (std::holds_alternative<Binary>(producer)) return true;
  // What the libraries' kernels apply to a result before they store it.
  return act.function == Function::kRelu || act.function == Function::kClamp;
}

}  // namespace

Result<std::size_t> fuse_residual(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* binary = std::get_if<Binary>(&graph.nodes[i].op);
    if (binary == nullptr || binary->kind != BinaryKind::kAdd) continue;
    const Uses uses(graph);
    const auto side = fusable_side(graph, uses, i);
    if (!side) continue;
    const ValueId x = graph.nodes[i].inputs[*side];
    const ValueId residual = graph.nodes[i].inputs[1 - *side];
    const auto producer = static_cast<std::size_t>(uses.producer[static_cast<std::size_t>(x)]);
    Node fused{graph.nodes[producer].op, graph.nodes[producer].inputs, graph.nodes[i].outputs};
    fused.inputs.resize(3, kNoValue);
    fused.inputs.push_back(residual);
    *fused_activation(fused.op) = binary->act;
    graph.nodes[i] = std::move(fused);
    move_projection(graph, uses, residual, i);
    ++changes;
  }
  return changes;
}

Result<std::size_t> fuse_activation(Graph& graph, const PassOptions&) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* unary = std::get_if<Unary>(&graph.nodes[i].op);
    if (unary == nullptr) continue;
    const Uses uses(graph);
    const ValueId x = graph.nodes[i].inputs[0];
    const int producer = uses.producer[static_cast<std::size_t>(x)];
    if (producer < 0 || uses.sole_reader(x) != static_cast<int>(i)) continue;
    Node fused = graph.nodes[static_cast<std::size_t>(producer)];
    Activation* act = fused_activation(fused.op);
    if (act == nullptr || !is_identity(*act) || !worth_fusing(fused.op, unary->act)) continue;
    *act = unary->act;
    fused.outputs = graph.nodes[i].outputs;
    graph.nodes[i] = std::move(fused);
    ++changes;
  }
  return changes;
}

}  // namespace proa::engine::passes
