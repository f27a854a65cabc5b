#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace proa::engine {

// The ways in which the GPU can compute a step. The host knows which of them fit a node, so that
// plans are made, printed and tested without a GPU.
enum class Implementation : std::uint8_t {
  kCudnnPrecompiled,  // cuDNN graph conv > +residual > +FP16 bias > relu: its shipped kernels
  kCudnnRuntime,      // cuDNN graph with the bias in FP32 and first: kernels compiled at load
  kCublasLt,          // a matrix product with bias, residual and relu in its epilogue
  kDepthwise,         // own kernels
  kFewPixels,         // convolutions of few pixels
  kFewRows,           // a matrix product; fused: and the convert to FP32 behind it
  kStem,
  kExpand,            // fused: a 1x1 convolution and the depthwise one that reads it
  kPictureDepthwise,  // fused: pack, a 3x3 convolution by 2, the depthwise one that reads it
  kCublasLtToFloat,   // fused: an FP16 matrix product and the convert to FP32 behind it
  kBlockEnd,          // fused: 1x1 convolutions around the end of a residual block
  kPack,
  kPoolVector,
  kSpatialMean,
  kPointwise,
  kReference,  // own plain kernels: any shape, slow
};
std::string_view name_of(Implementation implementation);

// What a plan is made for.
struct Target {
  int compute_capability = 90;  // 10 x major + minor
};

// One row of an operator's ordered list: fastest first, reference last. `decline` gives the reason
// why it cannot compute the node, or nothing.
struct ImplementationEntry {
  Implementation id;
  std::string_view (*decline)(const Graph& graph, const Node& node, const Target& target);
};

// How a step of a fusion reads the one before it.
enum class Link : std::uint8_t {
  kInput,        // as its first input, and nobody else reads that
  kSharedInput,  // as its first input; others may read it too
  kResidual,     // adds it to its own result, and nobody else reads it
};

// A way to compute neighbouring steps in one kernel (Fusion in plan/plan.h), which is taken where
// choose_fusions() finds that it pays. `decline` is asked for nodes of these operators, each but
// the first linked so with the one before.
struct FusionEntry {
  Implementation id;
  std::span<const std::string_view> operators;  // their names
  std::span<const Link> links;                  // one fewer
  std::string_view (*decline)(const Graph& graph, std::span<const Node* const> nodes,
                              const Target& target);
};
std::span<const FusionEntry> fusion_implementations();

// The list for the operator. Empty for operators that need no step (Reshape).
std::span<const ImplementationEntry> implementations_of(const Op& op);

struct Declined {
  Implementation implementation;
  std::string_view reason;
};
// What the operator's list says of a node: who can compute it, fastest first, and why others
// cannot.
struct Offers {
  std::vector<Implementation> candidates;
  std::vector<Declined> declined;
};
Offers offers_for(const Graph& graph, const Node& node, const Target& target);

}  // namespace proa::engine
