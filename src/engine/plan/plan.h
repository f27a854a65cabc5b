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

struct Declined {
  Implementation implementation;
  std::string_view reason;
};

// One operation of a plan and the implementations that can compute it, fastest first.
struct Step {
  Node node;
  std::string signature;  // equal signatures are equal work (graph/text.h)
  std::vector<Implementation> candidates;
  std::vector<Declined> declined;
};

// A graph made ready to run: steps in order over storage that is fixed.
// Threading: immutable once lowered.
struct Plan {
  Graph graph;
  std::vector<Storage> storage;  // by value
  std::vector<Step> steps;
  std::size_t arena_bytes = 0;
  std::size_t least_arena_bytes = 0;  // what no layout of these lifetimes can go below
  std::size_t constant_bytes = 0;     // of constants that steps read

  const Storage& storage_of(ValueId id) const { return storage[static_cast<std::size_t>(id)]; }
};

// Reshapes become aliases; every other node becomes a step. Errors: kUnimplemented naming the node
// and why each implementation declines it.
Result<Plan> lower(Graph graph, const Target& target);

// For people: a line for each step with its candidates, then the sums.
std::string print_plan(const Plan& plan);

}  // namespace proa::engine
