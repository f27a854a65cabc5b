#pragma once

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
};

// Operators that run together, in order.
struct Segment {
  Side side = Side::kGpu;
  std::vector<int> operators;
};

// Cuts a network into segments that run one after the other: each needs results of earlier ones
// only, and sides alternate. As few changes of side as going on for as long as anything is ready
// gives. Segments on the GPU of less than `min_cluster_ops` operators go to the CPU. Pure.
std::vector<Segment> make_segments(std::span<const PlacedOperator> operators, int min_cluster_ops);

}  // namespace proa::backends::cuda
