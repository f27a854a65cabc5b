#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace proa::engine {

// The text form of a graph, for tests, reports and bug reports. One statement a line:
//   graph tiny
//   input x : FP32[1,3,8,8]
//   const w : FP32[4,3,3,3] = random(7, -0.5, 0.5)    # or {1, 2, ...}, or fill(0.5)
//   y = conv(x, w, _, z) strides=[2,2] act=clamp(0,6) : FP32[1,4,4,4]
//   output y
// "_" is an absent input; attributes at their default are left out; the type of a node may be left
// out and is checked when given; names with other characters than letters, digits and _./-$ stand
// in double quotes; # begins a comment.

enum class ConstantText {
  kFull,   // every number; parse_graph() gives the same graph back
  kBrief,  // more than 8 numbers become "hash(...)", which parse_graph() refuses
};
std::string print_graph(const Graph& graph, ConstantText constants = ConstantText::kFull);

// Errors: kInvalidArgument naming the line and what was expected there.
Result<Graph> parse_graph(std::string_view text);

// The attributes that differ from their default, in order, as text: {"strides", "[2,2]"}.
std::vector<std::pair<std::string_view, std::string>> attributes(const Op& op);

// What a node computes, without names: "conv(FP16[8,56,56,64], const FP16[64,3,3,64], const
// FP32[64]) layout=nhwc act=relu". Equal signatures mean equal work; tuning results are kept by it.
std::string signature(const Graph& graph, const Node& node);

// `count` numbers in [low, high), the same for the same seed everywhere.
std::vector<float> random_numbers(std::uint64_t seed, std::size_t count, float low, float high);

// 64-bit FNV-1a.
std::uint64_t hash_bytes(std::span<const std::byte> bytes);

}  // namespace proa::engine
