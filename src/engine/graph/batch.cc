#include "engine/graph/batch.h"

#include <algorithm>

#include "engine/graph/infer.h"

namespace proa::engine {
namespace {

// Follows the batch through the graph. A value is `batched` when its first dimension is the batch;
// all others are the same for every row.
class BatchWalk {
 public:
  explicit BatchWalk(const Graph& graph) : graph_(graph), batched_(graph.values.size()) {}

  std::optional<std::string> run() {
    if (graph_.inputs.empty()) return "it has no inputs";
    for (ValueId id : graph_.inputs) {
      const Shape& shape = graph_.value(id).shape;
      const Shape& first = graph_.value(graph_.inputs.front()).shape;
      if (shape.empty() || shape[0] != first[0]) {
        return "input '" + graph_.value(id).name + "' has another first dimension";
      }
      batch_ = shape[0];
      mark(id);
    }
    for (const Node& node : graph_.nodes) {
      if (std::ranges::none_of(node.inputs, [&](ValueId id) { return batched(id); })) continue;
      node_ = &node;
      const auto obstacle = std::visit([&](const auto& op) { return check(op); }, node.op);
      if (obstacle) return "'" + graph_.value(node.output()).name + "' " + *obstacle;
      mark(node.output());
    }
    for (ValueId id : graph_.outputs) {
      if (!batched(id)) return "output '" + graph_.value(id).name + "' has no batch";
    }
    return std::nullopt;
  }

 private:
  using Obstacle = std::optional<std::string>;

  void mark(ValueId id) { batched_[static_cast<std::size_t>(id)] = true; }
  bool batched(ValueId id) const {
    return id != kNoValue && batched_[static_cast<std::size_t>(id)];
  }
  ValueId input(std::size_t i) const { return node_->input(i); }
  const Shape& shape(std::size_t i) const { return graph_.value(input(i)).shape; }
  bool has(std::size_t i) const { return input(i) != kNoValue; }

  Obstacle check_vectors(std::size_t first, std::size_t end) const {
    for (std::size_t i = first; i < end; ++i) {
      if (batched(input(i))) return "takes weights that depend on the batch";
    }
    return std::nullopt;
  }
  Obstacle check_residual() const {
    if (has(3) && !batched(input(3))) return "adds a residual that has no batch";
    return std::nullopt;
  }
  Obstacle check(const Conv&) const {
    if (auto obstacle = check_vectors(1, 3)) return obstacle;
    return check_residual();
  }
  Obstacle check(const Pool&) const { return std::nullopt; }
  Obstacle check(const Unary&) const { return std::nullopt; }
  Obstacle check(const Convert&) const { return std::nullopt; }
  Obstacle check(const Pad& op) const {
    if (op.begin.front() != 0 || op.end.front() != 0) return "pads the batch";
    return std::nullopt;
  }
  Obstacle check(const Lrn&) const { return std::nullopt; }
  Obstacle check(const BatchNorm&) const { return check_vectors(1, 5); }
  Obstacle check(const Pack&) const { return check_vectors(1, 3); }
  Obstacle check(const Stem&) const { return check_vectors(1, 5); }
  Obstacle check(const MatMul& op) const {
    if (!batched(input(0)) || (shape(0).rank() == 2 && op.transpose_a)) {
      return "multiplies across the batch";
    }
    if (batched(input(2))) return "takes a bias that depends on the batch";
    const bool same_rank = shape(1).rank() == shape(0).rank();
    const bool rowwise = batched(input(1)) ? same_rank && shape(0).rank() > 2
                                           : shape(0).rank() == 2 || !same_rank || shape(1)[0] == 1;
    // A longer right side would put its own extents in front of the batch.
    if (!rowwise || shape(1).rank() > shape(0).rank()) return "multiplies across the batch";
    return check_residual();
  }
  Obstacle check(const Binary&) const {
    const std::size_t rank = graph_.value(node_->output()).shape.rank();
    for (std::size_t i : {0u, 1u}) {
      const bool fits =
          batched(input(i)) ? shape(i).rank() == rank : shape(i).rank() < rank || shape(i)[0] == 1;
      if (!fits) return "combines the batch with another dimension";
    }
    return std::nullopt;
  }
  Obstacle check(const Reduce& op) const {
    if (!op.axes.empty() && op.axes.front() == 0) return "reduces over the batch";
    return std::nullopt;
  }
  Obstacle check(const Reshape& op) const {
    if (op.dims.empty() || op.dims.front() != batch_) return "reshapes the batch away";
    return std::nullopt;
  }
  Obstacle check(const Transpose& op) const {
    if (op.order.front() != 0) return "moves the batch to another dimension";
    return std::nullopt;
  }
  Obstacle check(const Softmax& op) const {
    const auto rank = static_cast<std::int64_t>(shape(0).rank());
    if (op.axis == 0 || op.axis == -rank) return "normalises over the batch";
    return std::nullopt;
  }
  Obstacle check(const Concat& op) const {
    const bool all = std::ranges::all_of(node_->inputs, [&](ValueId id) { return batched(id); });
    if (op.axis == 0 || !all) return "joins along the batch";
    return std::nullopt;
  }

  const Graph& graph_;
  std::vector<bool> batched_;
  std::int64_t batch_ = 0;
  const Node* node_ = nullptr;
};

}  // namespace

std::optional<std::string> batch_obstacle(const Graph& graph) { return BatchWalk(graph).run(); }

Result<Graph> with_batch(const Graph& graph, std::int64_t batch) {
  if (batch < 1) return error::invalid_argument("batch {} is not positive", batch);
  if (const auto obstacle = batch_obstacle(graph)) {
    return error::invalid_argument("graph '{}' does not batch: {}", graph.name, *obstacle);
  }
  Graph resized = graph;
  const std::int64_t old = graph.value(graph.inputs.front()).shape[0];
  for (ValueId id : resized.inputs) resized.value(id).shape[0] = batch;
  for (Node& node : resized.nodes) {
    const bool constant = std::ranges::all_of(
        node.inputs, [&](ValueId id) { return id == kNoValue || resized.is_constant(id); });
    auto* reshape = std::get_if<Reshape>(&node.op);
    if (reshape != nullptr && !constant && reshape->dims.front() == old) {
      reshape->dims.front() = batch;
    }
    PROA_ASSIGN(const std::vector<TensorType> types,
                infer(node.op, input_types(resized, node.inputs)));
    for (std::size_t i = 0; i < types.size(); ++i) {
      resized.value(node.outputs[i]).shape = types[i].shape;
    }
  }
  PROA_TRY(verify(resized));
  return resized;
}

Result<Graph> sized_for(const Graph& graph, std::int64_t batch) {
  const bool same = !graph.inputs.empty() && !graph.value(graph.inputs.front()).shape.empty() &&
                    graph.value(graph.inputs.front()).shape[0] == batch;
  if (same) return graph;
  return with_batch(graph, batch);
}

}  // namespace proa::engine
