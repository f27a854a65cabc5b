#include <algorithm>
#include <numeric>
#include <set>

#include "base/check.h"
#include "engine/graph/text.h"
#include "engine/plan/memory.h"
#include "engine/plan/plan.h"

namespace proa::engine {
namespace {

using Place = Storage::Place;

constexpr std::size_t kResidualInput = 3;  // of a Conv or MatMul

// Every output gets a buffer of its own: an output that is an input, a constant or listed twice is
// copied.
Status separate_outputs(Graph& graph) {
  std::set<ValueId> taken(graph.inputs.begin(), graph.inputs.end());
  for (ValueId& output : graph.outputs) {
    if (taken.insert(output).second && !graph.is_constant(output)) continue;
    PROA_ASSIGN(output, graph.add_node(Unary{}, {output}, graph.value(output).name));
  }
  return {};
}

class Lowering {
 public:
  Lowering(Plan& plan, const Target& target) : plan_(plan), graph_(plan.graph), target_(target) {
    plan_.owners.resize(graph_.values.size());
    std::iota(plan_.owners.begin(), plan_.owners.end(), 0);
    plan_.storage.resize(graph_.values.size());
  }

  Status run() {
    place_ends();
    for (const Node& node : graph_.nodes) {
      if (std::holds_alternative<Reshape>(node.op) && alias(node)) continue;
      PROA_TRY(add_step(node));
    }
    list_fusions();
    return {};
  }

 private:
  Storage& storage(ValueId id) { return plan_.storage[static_cast<std::size_t>(id)]; }
  ValueId& owner(ValueId id) { return plan_.owners[static_cast<std::size_t>(id)]; }

  void place_ends() {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      storage(graph_.inputs[i]) = {Place::kInput, i, 0};
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      storage(graph_.outputs[i]) = {Place::kOutput, i, 0};
    }
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].constant) plan_.storage[i] = {Place::kConstant, i, 0};
    }
  }

  // The output of a reshape lies where its input does. False: both ends are fixed, so it is copied.
  bool alias(const Node& node) {
    const ValueId from = owner(node.input(0));
    const ValueId to = node.output();
    if (storage(to).place == Place::kOutput) {
      if (storage(from).place != Place::kNowhere) return false;
      storage(from) = storage(to);
    }
    owner(to) = from;
    return true;
  }

  Status add_step(const Node& node) {
    // A reshape between fixed ends copies, as an identity of the output's shape.
    const bool copies = std::holds_alternative<Reshape>(node.op);
    Step step{copies ? Node{Unary{}, node.inputs, node.outputs} : node, "", {}, {}};
    step.signature = signature(graph_, step.node);
    Offers offers = offers_for(graph_, step.node, target_);
    step.candidates = std::move(offers.candidates);
    step.declined = std::move(offers.declined);
    if (step.candidates.empty()) return nobody(step);
    plan_.steps.push_back(std::move(step));
    return {};
  }

  void list_fusions() {
    const Uses uses(graph_);
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      for (const FusionEntry& entry : fusion_implementations()) {
        const std::vector<const Node*> nodes = chain_from(uses, i, entry);
        if (nodes.empty()) continue;
        const std::string_view reason = entry.decline(graph_, nodes, target_);
        if (reason.empty()) {
          add_fusion(uses, i, nodes, entry);
        } else {
          note_declined(plan_.steps[i], {entry.id, reason});
        }
      }
    }
  }

  // The first reason of several.
  static void note_declined(Step& step, const Declined& declined) {
    const bool known = std::ranges::any_of(step.declined, [&](const Declined& each) {
      return each.implementation == declined.implementation;
    });
    if (!known) step.declined.push_back(declined);
  }

  // The steps from `first` on when the entry's operators and links are theirs; else nothing.
  std::vector<const Node*> chain_from(const Uses& uses, std::size_t first,
                                      const FusionEntry& entry) const {
    const std::size_t count = entry.operators.size();
    if (first + count > plan_.steps.size()) return {};
    std::vector<const Node*> nodes;
    for (std::size_t i = 0; i < count; ++i) {
      const Node& node = plan_.steps[first + i].node;
      if (op_name(node.op) != entry.operators[i]) return {};
      if (i > 0 && !linked(uses, *nodes.back(), node, entry.links[i - 1])) return {};
      nodes.push_back(&node);
    }
    return nodes;
  }

  static bool linked(const Uses& uses, const Node& from, const Node& to, Link link) {
    const ValueId between = from.output();
    const bool alone = uses.sole_reader(between) >= 0;
    switch (link) {
      case Link::kInput:
        return to.input(0) == between && alone;
      case Link::kSharedInput:
        return to.input(0) == between && to.input(kResidualInput) != between;
      case Link::kResidual:
        return to.input(kResidualInput) == between && alone;
    }
    return false;
  }

  void add_fusion(const Uses& uses, std::size_t first, const std::vector<const Node*>& nodes,
                  const FusionEntry& entry) {
    for (Fusion& known : plan_.fusions) {
      if (known.first != first || known.count != nodes.size()) continue;
      known.step.candidates.push_back(entry.id);
      return;
    }
    Step step{Node{nodes.front()->op, {}, nodes.back()->outputs}, "", {entry.id}, {}};
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const ValueId between = k == 0 ? kNoValue : nodes[k - 1]->output();
      for (std::size_t i = 0; i < input_places(*nodes[k]); ++i) {
        const ValueId input = nodes[k]->input(i);
        if (input == kNoValue || input != between) step.node.inputs.push_back(input);
      }
      if (k > 0) {
        const bool kept = uses.sole_reader(between) < 0;
        if (kept) step.node.outputs.push_back(between);
        step.signature += entry.links[k - 1] == Link::kResidual ? " +> " : kept ? " >> " : " > ";
      }
      step.signature += signature(graph_, *nodes[k]);
    }
    plan_.fusions.push_back({first, nodes.size(), std::move(step)});
  }

  Error nobody(const Step& step) const {
    std::string reasons;
    for (const Declined& each : step.declined) {
      reasons += fmt::format("; {} {}", name_of(each.implementation), each.reason);
    }
    return error::unimplemented("nothing can compute '{}' = {}{}",
                                graph_.value(step.node.output()).name, step.signature, reasons);
  }

  Plan& plan_;
  const Graph& graph_;
  const Target& target_;
};

// What lies in the arena, and from which step to which.
class ArenaPlanner {
 public:
  explicit ArenaPlanner(Plan& plan) : plan_(plan), request_of_(plan.graph.values.size(), kNone) {}

  void run(std::span<const std::size_t> taken) {
    for (Storage& each : plan_.storage) {
      if (each.place == Place::kArena) each = {};
    }
    // The fusion that a step belongs to, or none.
    std::vector<const Fusion*> fusion_of(plan_.steps.size());
    for (const std::size_t index : taken) {
      const Fusion& fusion = plan_.fusions[index];
      for (std::size_t i = 0; i < fusion.count; ++i) fusion_of[fusion.first + i] = &fusion;
    }
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Fusion* fusion = fusion_of[i];
      if (fusion == nullptr) {
        add(plan_.steps[i].node, i, i);
      } else if (fusion->first == i) {
        add(fusion->step.node, i, i + fusion->count - 1);
      }
    }
    place();
  }

 private:
  static constexpr int kNone = -1;

  ValueId owner(ValueId id) const { return plan_.owners[static_cast<std::size_t>(id)]; }
  Storage& storage(ValueId id) { return plan_.storage[static_cast<std::size_t>(id)]; }
  int& request_of(ValueId id) { return request_of_[static_cast<std::size_t>(id)]; }

  // Work that lasts from step `first` to step `last`.
  void add(const Node& node, std::size_t first, std::size_t last) {
    for (ValueId id : node.inputs) {
      if (id == kNoValue) continue;
      if (plan_.graph.is_constant(owner(id))) constants_.insert(owner(id));
      const int request = request_of(owner(id));
      if (request == kNone) continue;
      requests_[static_cast<std::size_t>(request)].last_step = static_cast<int>(last);
    }
    for (ValueId id : node.outputs) {
      if (storage(owner(id)).place != Place::kNowhere) continue;
      request_of(owner(id)) = static_cast<int>(requests_.size());
      requests_.push_back(
          {plan_.graph.value(id).bytes(), static_cast<int>(first), static_cast<int>(last)});
      placed_.push_back(owner(id));
    }
  }

  void place() {
    const MemoryLayout layout = plan_memory(requests_);
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      storage(placed_[i]) = {Place::kArena, 0, layout.offsets[i]};
    }
    for (std::size_t i = 0; i < plan_.storage.size(); ++i) {
      plan_.storage[i] = plan_.storage_of(plan_.owners[i]);
    }
    plan_.arena_bytes = layout.arena_bytes;
    plan_.least_arena_bytes = least_arena_bytes(requests_);
    plan_.constant_bytes = 0;
    for (ValueId id : constants_) plan_.constant_bytes += plan_.graph.value(id).bytes();
  }

  Plan& plan_;
  std::vector<int> request_of_;  // by value
  std::vector<MemoryRequest> requests_;
  std::vector<ValueId> placed_;  // by request
  std::set<ValueId> constants_;
};

}  // namespace

void place_memory(Plan& plan, std::span<const std::size_t> taken) { ArenaPlanner(plan).run(taken); }

std::size_t input_places(const Node& node) {
  const bool linear =
      std::holds_alternative<Conv>(node.op) || std::holds_alternative<MatMul>(node.op);
  const std::size_t known = linear ? 4 : std::holds_alternative<Pack>(node.op) ? 3 : 1;
  return std::max(known, node.inputs.size());
}

std::vector<const Node*> parts_of(const Graph& graph, const Node& fused, std::size_t count) {
  const auto last = std::ranges::find(graph.nodes, fused.output(), &Node::output);
  std::vector<const Node*> parts;
  for (auto i = last; parts.size() < count; --i) {
    PROA_CHECK(i != graph.nodes.end(), "a fused node is not of this graph");
    // Neighbours but for reshapes, which are no steps.
    if (!std::holds_alternative<Reshape>(i->op)) parts.insert(parts.begin(), &*i);
    if (i == graph.nodes.begin()) break;
  }
  PROA_CHECK(parts.size() == count, "a fused node has as many parts in its graph");
  return parts;
}

Result<Plan> lower(Graph graph, const Target& target) {
  PROA_TRY(separate_outputs(graph));
  Plan plan;
  plan.graph = std::move(graph);
  PROA_TRY(Lowering(plan, target).run());
  place_memory(plan, {});
  return plan;
}

std::string print_plan(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    std::string candidates;
    for (Implementation each : step.candidates) {
      candidates += fmt::format("{}{}", candidates.empty() ? "" : " > ", name_of(each));
    }
    text += fmt::format("{} = {}: {}\n", plan.graph.value(step.node.output()).name, step.signature,
                        candidates);
    for (const Declined& each : step.declined) {
      text += fmt::format("    not {}: {}\n", name_of(each.implementation), each.reason);
    }
  }
  for (const Fusion& fusion : plan.fusions) {
    text += fmt::format("{} = {}: {}\n", plan.graph.value(fusion.step.node.output()).name,
                        fusion.step.signature, name_of(fusion.step.candidates.front()));
  }
  text +=
      fmt::format("{} steps, arena {} bytes (at least {}), constants {} bytes\n", plan.steps.size(),
                  plan.arena_bytes, plan.least_arena_bytes, plan.constant_bytes);
  return text;
}

}  // namespace proa::engine
