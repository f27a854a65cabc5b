#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace proa::backends::cuda {

// Where an operator runs: the GPU by the engine, or the CPU by OpenVINO.
enum class Side : std::uint8_t { kGpu, kCpu };

// An operator of a network as the partitioner sees it. Operators are in an order in which they can
// run; `inputs` are indices of earlier ones.
struct PlacedOperator {
  std::vector<int> inputs;
  Side side = Side::kGpu;
  double saved_us = 0;    // microseconds that the GPU is estimated to save
  std::size_t bytes = 0;  // of its results
};

// Which segments are worth the way to the GPU and back.
struct ClusterRules {
  int min_operators = 1;
  bool by_cost =
      false;  // what the GPU saves must pay for the crossings, or the segment is the last
};

// What it takes to hand `bytes` from one side to the other: starting and waiting, and copying.
double crossing_us(std::size_t bytes);

// Operators that run together, in order.
struct Segment {
  Side side = Side::kGpu;
  std::vector<int> operators;
};

// Cuts a network into segments that run one after the other: each needs results of earlier ones
// only, and sides alternate. As few changes of side as going on for as long as anything is ready
// gives. Segments on the GPU that the rules do not allow go to the CPU, those that
// gain least first; a network that is one segment stays where it is. Pure.
std::vector<Segment> make_segments(std::span<const PlacedOperator> operators,
                                   const ClusterRules& rules);

}  // namespace proa::backends::cuda
