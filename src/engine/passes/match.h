#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace proa::engine {

// Small questions that several passes ask.

// The channel axis of what `node` computes when it is a convolution, pool or matmul.
std::optional<std::size_t> channel_axis(const Graph& graph, const Node& node);

// The numbers of constant `id`, one for each of the `channels` along `axis` of a tensor of rank
// `rank` that it is broadcast to; nothing when it varies along another axis or is no constant. A
// single number counts for every channel.
std::optional<std::vector<float>> per_channel(const Graph& graph, ValueId id, std::size_t rank,
                                              std::size_t axis, std::int64_t channels);

// The fused activation of a Conv, MatMul or Binary; null for other operators.
Activation* fused_activation(Op& op);

bool has_residual(const Node& node);
bool is_identity(const Activation& act);
// Hands its input on as it is, perhaps under another shape: bytes, whatever their type.
bool is_copy(const Graph& graph, const Node& node);

// `node` is a Conv or MatMul whose result may still be scaled, shifted or added to: nothing but a
// bias is fused into it yet.
bool is_open_linear(const Node& node);

// Why our own kernel cannot compute a Conv as depthwise, or a Reduce as the mean over all
// dimensions but the first and last; "" when it can. What the FP16 kernels want of layout and
// shape, once, for passes and the implementation list.
std::string_view depthwise_obstacle(const Graph& graph, const Node& node);
std::string_view spatial_mean_obstacle(const Graph& graph, const Node& node);

// order after `first`: output i of the two is input first[second[i]].
Dims compose(const Dims& first, const Dims& second);
Dims inverse(const Dims& order);
bool is_identity_order(const Dims& order);

}  // namespace proa::engine
