// Networks that were stored in FP16 become FP32 ones, whose constants say the same: the passes then
// fold and fuse as ever, and set_precision decides what is computed in FP16.
#include <algorithm>
#include <map>

#include "engine/passes/match.h"
#include "engine/passes/pass.h"

namespace proa::engine::passes {
namespace {

class Widening {
 public:
  explicit Widening(Graph& graph) : graph_(graph) {}

  Result<std::size_t> run() {
    std::vector<Node> old = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : old) PROA_TRY(place(std::move(node)));
    for (ValueId& output : graph_.outputs) {
      const auto moved = wide_.find(output);
      if (moved == wide_.end()) continue;
      const Value original = graph_.value(output);
      PROA_ASSIGN(output, graph_.add_node(Convert{original.type}, {moved->second}, original.name));
    }
    return changes_;
  }

 private:
  bool is_half(ValueId id) const {
    return id != kNoValue && graph_.value(id).type == DataType::kFp16;
  }

  Status place(Node node) {
    const bool touched = std::ranges::any_of(
        node.inputs, [this](ValueId id) { return is_half(id) || wide_.contains(id); });
    if (!touched && !is_half(node.output())) {
      graph_.nodes.push_back(std::move(node));
      return {};
    }
    ++changes_;
    for (ValueId& id : node.inputs) {
      PROA_ASSIGN(id, widened(id));
    }
    const Value old = graph_.value(node.output());
    if (auto* convert = std::get_if<Convert>(&node.op)) {
      if (convert->type == DataType::kFp16) convert->type = DataType::kFp32;
      if (graph_.value(node.inputs[0]).type == convert->type) {
        wide_[node.output()] = node.inputs[0];
        return {};
      }
    }
    PROA_ASSIGN(wide_[node.output()],
                graph_.add_node(std::move(node.op), std::move(node.inputs), old.name));
    return {};
  }

  // The value that stands for old value `id`.
  Result<ValueId> widened(ValueId id) {
    if (const auto moved = wide_.find(id); moved != wide_.end()) return moved->second;
    if (!is_half(id)) return id;
    const Value value = graph_.value(id);
    if (value.constant) {
      return wide_[id] = graph_.add_constant(value.name, value.shape, constant_floats(value));
    }
    PROA_ASSIGN(wide_[id], graph_.add_node(Convert{DataType::kFp32}, {id}, value.name));
    return wide_[id];
  }

  Graph& graph_;
  std::map<ValueId, ValueId> wide_;
  std::size_t changes_ = 0;
};

}  // namespace

Result<std::size_t> widen_halves(Graph& graph, const PassOptions&) { return Widening(graph).run(); }

}  // namespace proa::engine::passes
