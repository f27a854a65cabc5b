// Chooses the type that each node computes in, and puts converts where types meet.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/half.h"
#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

class Lowering {
 public:
  Lowering(Graph& graph, const PassOptions& options) : graph_(graph), options_(options) {}

  Result<std::size_t> run() {
    std::vector<Node> old = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : old) PROA_TRY(place(std::move(node)));
    for (ValueId& output : graph_.outputs) {
      const auto moved = current_.find(output);
      if (moved == current_.end()) continue;
      const Value original = graph_.value(output);
      PROA_ASSIGN(output, as_type(output, original.type));
      graph_.value(output).name = original.name;
    }
    return changes_;
  }

 private:
  // What is exact or delicate stays as it is: integers, softmax, what makes or reads a tensor that
  // is kept, and what has constants that FP16 cannot hold.
  bool becomes_half(const Node& node) const {
    return graph_.value(node.output()).type == DataType::kFp32 &&
           !std::holds_alternative<Softmax>(node.op) && !std::holds_alternative<Convert>(node.op) &&
           !kept(node.output()) &&
           std::ranges::none_of(node.inputs, [this](ValueId id) { return kept(id); }) &&
           constants_fit(node);
  }

  // A tensor that the caller names, or the same numbers in another order.
  bool kept(ValueId id) const {
    return id != kNoValue &&
           (options_.keep_fp32.contains(graph_.value(id).name) || copies_.contains(id));
  }

  static bool only_moves(const Op& op) {
    return std::holds_alternative<Transpose>(op) || std::holds_alternative<Reshape>(op) ||
           std::holds_alternative<Pack>(op);
  }

  bool constants_fit(const Node& node) const {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (!graph_.is_constant(id) || stays_fp32(node, i)) continue;
      const Value& value = graph_.value(id);
      if (value.type != DataType::kFp32) continue;
      const auto fits = [](float number) { return !(std::abs(number) > kLargestHalf); };
      if (!std::ranges::all_of(constant_floats(value), fits)) return false;
    }
    return true;
  }

  // Vectors that the kernels add in FP32: their bytes do not matter, their digits do.
  static bool stays_fp32(const Node& node, std::size_t input) {
    if (std::holds_alternative<Pack>(node.op)) return true;
    const bool linear =
        std::holds_alternative<Conv>(node.op) || std::holds_alternative<MatMul>(node.op);
    return linear && input == 2;
  }

  Status place(Node node) {
    if (only_moves(node.op) && kept(node.inputs[0])) copies_.insert(node.output());
    const bool half = becomes_half(node);
    const DataType wanted = half ? DataType::kFp16 : DataType::kFp32;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      ValueId& id = node.inputs[i];
      if (id == kNoValue || graph_.value(id).type != DataType::kFp32) continue;
      PROA_ASSIGN(id, as_type(id, stays_fp32(node, i) ? DataType::kFp32 : wanted));
    }
    if (!half) {
      graph_.nodes.push_back(std::move(node));
      return {};
    }
    ++changes_;
    if (auto* pack = std::get_if<Pack>(&node.op)) pack->type = DataType::kFp16;
    const ValueId old = node.output();
    PROA_ASSIGN(current_[old], graph_.add_node(std::move(node.op), std::move(node.inputs),
                                               graph_.value(old).name));
    return {};
  }

  // The value that stands for old value `id`, in the type wanted.
  Result<ValueId> as_type(ValueId id, DataType type) {
    const auto moved = current_.find(id);
    const ValueId now = moved == current_.end() ? id : moved->second;
    if (graph_.value(now).type == type) return now;
    const auto [known, fresh] = converted_.try_emplace({id, type}, kNoValue);
    if (!fresh) return known->second;
    const Value value = graph_.value(now);
    if (value.constant) {
      known->second = graph_.add_constant(value.name, type, value.shape,
                                          pack_floats(type, constant_floats(value)));
      return known->second;
    }
    PROA_ASSIGN(known->second, graph_.add_node(Convert{type}, {now}, value.name));
    return known->second;
  }

  Graph& graph_;
  const PassOptions& options_;
  std::set<ValueId> copies_;            // of kept tensors
  std::map<ValueId, ValueId> current_;  // old FP32 value -> its FP16 stand-in
  std::map<std::pair<ValueId, DataType>, ValueId> converted_;
  std::size_t changes_ = 0;
};

std::size_t allow_tf32(Graph& graph) {
  std::size_t changes = 0;
  for (Node& node : graph.nodes) {
    if (auto* conv = std::get_if<Conv>(&node.op)) conv->tf32 = true, ++changes;
    if (auto* matmul = std::get_if<MatMul>(&node.op)) matmul->tf32 = true, ++changes;
  }
  return changes;
}

}  // namespace

Result<std::size_t> set_precision(Graph& graph, const PassOptions& options) {
  if (options.precision == Precision::kFp32) return std::size_t{0};
  if (options.precision == Precision::kTf32) return allow_tf32(graph);
  return Lowering(graph, options).run();
}

}  // namespace proa::engine::passes
