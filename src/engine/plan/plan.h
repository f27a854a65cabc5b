#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/graph/graph.h"
#include "engine/plan/implementation.h"

namespace proa::engine {

// Where a value lies while a plan runs.
struct Storage {
  enum class Place : std::uint8_t {
    kNowhere,   // no step touches it
    kConstant,  // on the device once, shared by all streams
    kInput,     // number `index` of the graph's inputs
    kOutput,    // number `index` of the graph's outputs
    kArena,     // at `offset` of the stream's arena
  };
  Place place = Place::kNowhere;
  std::size_t index = 0;
  std::size_t offset = 0;
};

// One operation of a plan and the implementations that can compute it, fastest first.
struct Step {
  Node node;
  std::string signature;  // equal signatures are equal work (graph/text.h)
  std::vector<Implementation> candidates;
  std::vector<Declined> declined;
};

// Neighbouring steps that one kernel can compute: each but the first reads the one before it, as
// its FusionEntry says. Whoever runs the plan may take `step` for all of them, once place_memory()
// knows it.
struct Fusion {
  std::size_t first = 0, count = 0;  // of Plan::steps
  // Its node has the operator of the first; its outputs are that of the last, then what lies
  // between and others read too; its inputs are those of all, without what lies between, absent
  // ones kept (input_places), so that their places are fixed. The signature joins those of the
  // steps: " > " where one is handed on, " >> " where it is an output too, " +> " as residual.
  Step step;
};

// How many inputs a node has in a fusion, absent ones counted: four of a Conv or MatMul, three of a
// Pack.
std::size_t input_places(const Node& node);

// The `count` nodes behind the node of a fused step, first to last.
std::vector<const Node*> parts_of(const Graph& graph, const Node& fused, std::size_t count);

// A graph made ready to run: steps in order over storage that is fixed.
// Threading: immutable once lowered.
struct Plan {
  Graph graph;
  std::vector<Storage> storage;  // by value
  std::vector<Step> steps;
  std::vector<Fusion> fusions;  // in the order of their first steps
  std::size_t arena_bytes = 0;
  std::size_t least_arena_bytes = 0;  // what no layout of these lifetimes can go below
  std::size_t constant_bytes = 0;     // of constants that steps read

  std::vector<ValueId> owners;  // by value: whose storage it has, its own but for reshapes

  const Storage& storage_of(ValueId id) const { return storage[static_cast<std::size_t>(id)]; }
};

// Reshapes become aliases; every other node becomes a step, and fusions are listed beside them. The
// memory is that of the steps alone. Errors: kUnimplemented naming the node and why each
// implementation declines it.
Result<Plan> lower(Graph graph, const Target& target);

// Places everything in the arena anew for a run in which those of Plan::fusions are taken, that
// have no step in common: what they read stays until they have ended, what lies between has no
// place.
void place_memory(Plan& plan, std::span<const std::size_t> taken);

// For people: a line for each step with its candidates, then the sums.
std::string print_plan(const Plan& plan);

}  // namespace proa::engine
