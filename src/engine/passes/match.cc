#include "engine/passes/match.h"

#include "engine/graph/infer.h"

namespace proa::engine {

std::optional<std::size_t> channel_axis(const Graph& graph, const Node& node) {
  if (const auto* conv = std::get_if<Conv>(&node.op)) return image_axes(conv->layout).c;
  if (const auto* pool = std::get_if<Pool>(&node.op)) return image_axes(pool->layout).c;
  if (std::holds_alternative<MatMul>(node.op)) return graph.value(node.output()).shape.rank() - 1;
  return std::nullopt;
}

std::optional<std::vector<float>> per_channel(const Graph& graph, ValueId id, std::size_t rank,
                                              std::size_t axis, std::int64_t channels) {
  if (!graph.is_constant(id)) return std::nullopt;
  const Value& value = graph.value(id);
  if (value.shape.rank() > rank) return std::nullopt;
  for (std::size_t d = 0; d < value.shape.rank(); ++d) {
    const bool is_channel = d + rank - value.shape.rank() == axis;
    if (value.shape[d] != 1 && !(is_channel && value.shape[d] == channels)) return std::nullopt;
  }
  std::vector<float> numbers = constant_floats(value);
  numbers.resize(static_cast<std::size_t>(channels), numbers.front());
  return numbers;
}

Activation* fused_activation(Op& op) {
  if (auto* conv = std::get_if<Conv>(&op)) return &conv->act;
  if (auto* matmul = std::get_if<MatMul>(&op)) return &matmul->act;
  if (auto* binary = std::get_if<Binary>(&op)) return &binary->act;
  return nullptr;
}

bool has_residual(const Node& node) { return node.input(3) != kNoValue; }
bool is_identity(const Activation& act) { return act.function == Function::kIdentity; }

bool is_copy(const Graph& graph, const Node& node) {
  const auto* unary = std::get_if<Unary>(&node.op);
  return unary != nullptr && is_identity(unary->act) &&
         graph.value(node.input(0)).type == graph.value(node.output()).type;
}

bool is_open_linear(const Node& node) {
  if (has_residual(node)) return false;
  if (const auto* conv = std::get_if<Conv>(&node.op)) return is_identity(conv->act);
  if (const auto* matmul = std::get_if<MatMul>(&node.op)) return is_identity(matmul->act);
  return false;
}

Dims compose(const Dims& first, const Dims& second) {
  Dims order;
  for (std::int64_t axis : second) order.push_back(first[static_cast<std::size_t>(axis)]);
  return order;
}

Dims inverse(const Dims& order) {
  Dims result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    result[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  return result;
}

bool is_identity_order(const Dims& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

std::string_view depthwise_obstacle(const Graph& graph, const Node& node) {
  const auto& conv = std::get<Conv>(node.op);
  const Value& x = graph.value(node.inputs[0]);
  const Value& y = graph.value(node.output());
  if (x.type != DataType::kFp16 || y.type != DataType::kFp16) return "computes in FP16 only";
  if (conv.layout != Layout::kNhwc) return "wants NHWC";
  if (conv.groups != x.shape[3] || conv.groups != y.shape[3]) return "wants a group a channel";
  if (conv.groups % 8 != 0) return "wants a multiple of 8 channels";
  const Shape& weight = graph.value(node.inputs[1]).shape;
  if (weight[1] != weight[2] || (weight[1] != 3 && weight[1] != 5)) return "wants 3x3 or 5x5";
  const Dims one = {1, 1}, two = {2, 2};
  if (conv.strides != one && conv.strides != two) return "moves by 1 or 2";
  if (conv.dilations != one) return "takes no dilation";
  if (has_residual(node)) return "adds no residual";
  if (!graph.is_constant(node.inputs[1])) return "wants constant weights";
  if (node.input(2) == kNoValue) return {};
  const bool good =
      graph.is_constant(node.input(2)) && graph.value(node.input(2)).type == DataType::kFp32;
  return good ? "" : "wants a constant FP32 bias";
}

std::string_view spatial_mean_obstacle(const Graph& graph, const Node& node) {
  const auto& reduce = std::get<Reduce>(node.op);
  const Value& x = graph.value(node.inputs[0]);
  if (x.type != DataType::kFp16 || graph.value(node.output()).type != DataType::kFp16) {
    return "computes in FP16 only";
  }
  if (reduce.kind != ReduceKind::kMean) return "computes means only";
  bool middle = x.shape.rank() >= 3 && reduce.axes.size() == x.shape.rank() - 2;
  for (std::size_t i = 0; middle && i < reduce.axes.size(); ++i) {
    middle = reduce.axes[i] == static_cast<std::int64_t>(i) + 1;
  }
  if (!middle) return "reduces all dimensions but the first and last";
  if (x.shape[x.shape.rank() - 1] % 8 != 0) return "wants a multiple of 8 channels";
  return {};
}

}  // namespace proa::engine
