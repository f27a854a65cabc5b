#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {

// Random operands for one step, several sets of them, so that repeated launches do not find their
// data in the cache unless a network would leave it there: with small activations only the weights
// rotate (48 MB), else everything does (200 MB).
class CandidateTimer {
 public:
  enum class Operands : std::uint8_t { kRotated, kOneSet };  // one: to try, not to time

  // For a step of `parts` nodes (several: a fusion). `graph` and `libraries` must outlive it.
  static Result<CandidateTimer> create(const Graph& graph, const Node& node, std::size_t parts,
                                       Operands operands, Libraries& libraries);

  // The time of one launch in microseconds: median of `repeats` replays of a captured graph, or the
  // first alone when that is above `limit`. Errors: what the kernel answered; kResourceExhausted
  // when there is no room for its workspace; kUnavailable when the device broke.
  Result<float> time(StepKernel& kernel, int repeats, float limit);

  // The relative L2 distance of the kernel's answers from the plain kernels' (the largest of two
  // outputs'); outputs poisoned first.
  Result<float> distance_from_plain(StepKernel& kernel);

 private:
  CandidateTimer(const Graph& graph, const Node& node, std::size_t parts, Libraries& libraries)
      : graph_(&graph), node_(&node), parts_(parts), libraries_(&libraries) {}
  Status allocate(Operands operands);
  Status fill();
  Result<Arguments> arguments(const StepKernel& kernel, std::size_t set);
  // The plain kernels on the first set of operands, into wanted_; once.
  Status run_plain();
  Result<float> distance(ValueId id, const void* got, const void* wanted);

  const Graph* graph_;
  const Node* node_;
  std::size_t parts_;
  Libraries* libraries_;
  Stream stream_;
  Event begin_, end_;
  std::size_t input_sets_ = 1, weight_sets_ = 1;
  struct Operand {
    DeviceMemory memory;   // all sets, one behind the other, in the value's own type
    DeviceMemory as_half;  // of a small FP32 constant, for kernels that want it so
    std::size_t stride = 0;
    std::size_t sets = 1;
  };
  std::vector<Operand> inputs_, outputs_;
  DeviceMemory workspace_, sums_;
  std::vector<DeviceMemory> wanted_;   // by output: what the plain kernels make
  std::vector<DeviceMemory> between_;  // what those of a fusion hand on besides
  bool has_wanted_ = false;
};

}  // namespace proa::engine::cuda
