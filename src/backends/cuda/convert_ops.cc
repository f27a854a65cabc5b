#include "backends/cuda/convert_ops.h"

#include <algorithm>
#include <utility>

#include "engine/graph/infer.h"
#include "openvino/op/ops.hpp"

namespace proa::backends::cuda {
namespace {

using engine::Activation;
using engine::BinaryKind;
using engine::Dims;
using engine::Function;
using engine::PoolKind;
using engine::ReduceKind;
using engine::ValueId;

template <class Container>
Dims to_dims(const Container& numbers) {
  return Dims(numbers.begin(), numbers.end());
}

Dims output_dims(const ov::Node& node) { return to_dims(node.get_output_shape(0)); }

Result<ValueId> add(ImportState& state, const ov::Node& node, engine::Op op,
                    std::vector<ValueId> inputs) {
  return state.graph.add_node(std::move(op), std::move(inputs), node.get_friendly_name());
}

// The numbers of a constant input such as axes. Errors: kUnimplemented when it is computed.
Result<std::vector<std::int64_t>> constant_input(const ov::Node& node, std::size_t i) {
  const auto* constant = ov::as_type<const ov::op::v0::Constant>(node.get_input_node_ptr(i));
  if (constant == nullptr) {
    return error::unimplemented("its input {} is computed, not a constant", i);
  }
  return constant->cast_vector<std::int64_t>();
}

engine::Conv conv_attributes(const auto& op, std::int64_t groups) {
  engine::Conv conv;
  conv.strides = to_dims(op.get_strides());
  conv.pads_begin = to_dims(op.get_pads_begin());
  conv.pads_end = to_dims(op.get_pads_end());
  conv.dilations = to_dims(op.get_dilations());
  conv.groups = groups;
  return conv;
}

Result<ValueId> convolution(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::v1::Convolution&>(node);
  if (node.get_input_shape(0).size() != 4) return error::unimplemented("only 2-D convolutions");
  return add(state, node, conv_attributes(op, 1), {state.input(node, 0), state.input(node, 1)});
}

// Weights [G, K/G, C/G, R, S] become [K, C/G, R, S].
Result<ValueId> group_convolution(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::v1::GroupConvolution&>(node);
  const ov::Shape& weight = node.get_input_shape(1);
  if (weight.size() != 5) return error::unimplemented("only 2-D convolutions");
  Dims dims = to_dims(weight);
  dims[1] *= dims[0];
  dims.erase(dims.begin());
  PROA_ASSIGN(const ValueId flat, add(state, node, engine::Reshape{dims}, {state.input(node, 1)}));
  return add(state, node, conv_attributes(op, static_cast<std::int64_t>(weight[0])),
             {state.input(node, 0), flat});
}

Result<ValueId> matmul(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::v0::MatMul&>(node);
  if (node.get_input_shape(0).size() < 2 || node.get_input_shape(1).size() < 2) {
    return error::unimplemented("only matrices, not vectors");
  }
  return add(state, node, engine::MatMul{op.get_transpose_a(), op.get_transpose_b(), {}},
             {state.input(node, 0), state.input(node, 1)});
}

template <BinaryKind kind>
Result<ValueId> binary(ImportState& state, const ov::Node& node) {
  const auto broadcast = node.get_autob();
  if (broadcast.m_type != ov::op::AutoBroadcastType::NUMPY &&
      broadcast.m_type != ov::op::AutoBroadcastType::NONE) {
    return error::unimplemented("only numpy broadcasting");
  }
  return add(state, node, engine::Binary{kind, {}}, {state.input(node, 0), state.input(node, 1)});
}

template <Function function>
Result<ValueId> unary(ImportState& state, const ov::Node& node) {
  return add(state, node, engine::Unary{Activation{function}}, {state.input(node, 0)});
}

Result<ValueId> clamp(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::v0::Clamp&>(node);
  const Activation act{Function::kClamp, static_cast<float>(op.get_min()),
                       static_cast<float>(op.get_max())};
  return add(state, node, engine::Unary{act}, {state.input(node, 0)});
}

Result<ValueId> swish(ImportState& state, const ov::Node& node) {
  if (node.get_input_size() > 1) return error::unimplemented("only swish without beta");
  return unary<Function::kSwish>(state, node);
}

// Pads at the end until floor() counts as many windows as the model's rounding did.
Status fit_output(const ov::Node& node, engine::Pool& pool) {
  const ov::Shape& in = node.get_input_shape(0);
  const ov::Shape& out = node.get_output_shape(0);
  for (std::size_t d : {0u, 1u}) {
    const auto wanted = static_cast<std::int64_t>(out[d + 2]);
    const std::int64_t reach = (wanted - 1) * pool.strides[d] + pool.kernel[d];
    const std::int64_t size = static_cast<std::int64_t>(in[d + 2]) + pool.pads_begin[d];
    const std::int64_t needed = std::max<std::int64_t>(reach - size, 0);
    if (needed > pool.pads_end[d] && pool.count_padding) {
      return error::unimplemented("averages that count padding, rounded up");
    }
    pool.pads_end[d] = std::max(needed, pool.pads_end[d]);
  }
  return {};
}

Result<ValueId> pool(ImportState& state, const ov::Node& node, PoolKind kind, const auto& op,
                     bool count_padding) {
  if (node.get_input_shape(0).size() != 4) return error::unimplemented("only 2-D pools");
  engine::Pool pool;
  pool.kind = kind;
  pool.kernel = to_dims(op.get_kernel());
  pool.strides = to_dims(op.get_strides());
  pool.pads_begin = to_dims(op.get_pads_begin());
  pool.pads_end = to_dims(op.get_pads_end());
  // Padding that is zero everywhere is not worth a mode of its own.
  pool.count_padding =
      count_padding && (pool.pads_begin != Dims{0, 0} || pool.pads_end != Dims{0, 0});
  PROA_TRY(fit_output(node, pool));
  return add(state, node, pool, {state.input(node, 0)});
}

template <class MaxPool>
Result<ValueId> max_pool(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const MaxPool&>(node);
  if constexpr (!std::is_same_v<MaxPool, ov::op::v1::MaxPool>) {
    if (std::ranges::any_of(op.get_dilations(), [](std::size_t d) { return d != 1; })) {
      return error::unimplemented("only pools without dilation");
    }
    if (!node.output(1).get_target_inputs().empty()) {
      return error::unimplemented("only the maximum itself, not its index");
    }
  }
  return pool(state, node, PoolKind::kMax, op, false);
}

Result<ValueId> any_max_pool(ImportState& state, const ov::Node& node) {
  if (ov::is_type<ov::op::v14::MaxPool>(&node)) return max_pool<ov::op::v14::MaxPool>(state, node);
  if (ov::is_type<ov::op::v8::MaxPool>(&node)) return max_pool<ov::op::v8::MaxPool>(state, node);
  return max_pool<ov::op::v1::MaxPool>(state, node);
}

Result<ValueId> average_pool(ImportState& state, const ov::Node& node) {
  if (ov::is_type<ov::op::v14::AvgPool>(&node)) {
    const auto& op = static_cast<const ov::op::v14::AvgPool&>(node);
    return pool(state, node, PoolKind::kAverage, op, !op.get_exclude_pad());
  }
  const auto& op = static_cast<const ov::op::v1::AvgPool&>(node);
  return pool(state, node, PoolKind::kAverage, op, !op.get_exclude_pad());
}

template <ReduceKind kind>
Result<ValueId> reduce(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::util::ArithmeticReductionKeepDims&>(node);
  PROA_ASSIGN(std::vector<std::int64_t> axes, constant_input(node, 1));
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += static_cast<std::int64_t>(node.get_input_shape(0).size());
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return add(state, node, engine::Reduce{kind, axes, op.get_keep_dims()}, {state.input(node, 0)});
}

// Reshape, Squeeze, Unsqueeze: shapes are known by now.
Result<ValueId> reshape(ImportState& state, const ov::Node& node) {
  return add(state, node, engine::Reshape{output_dims(node)}, {state.input(node, 0)});
}

Result<ValueId> transpose(ImportState& state, const ov::Node& node) {
  PROA_ASSIGN(std::vector<std::int64_t> order, constant_input(node, 1));
  if (order.empty()) {
    for (std::size_t i = node.get_input_shape(0).size(); i-- > 0;) {
      order.push_back(static_cast<std::int64_t>(i));
    }
  }
  return add(state, node, engine::Transpose{order}, {state.input(node, 0)});
}

template <class Softmax>
Result<ValueId> softmax(ImportState& state, const ov::Node& node) {
  auto axis = static_cast<std::int64_t>(static_cast<const Softmax&>(node).get_axis());
  if (axis < 0) axis += static_cast<std::int64_t>(node.get_input_shape(0).size());
  return add(state, node, engine::Softmax{axis}, {state.input(node, 0)});
}

Result<ValueId> any_softmax(ImportState& state, const ov::Node& node) {
  if (ov::is_type<ov::op::v1::Softmax>(&node)) return softmax<ov::op::v1::Softmax>(state, node);
  return softmax<ov::op::v8::Softmax>(state, node);
}

Result<ValueId> convert(ImportState& state, const ov::Node& node) {
  PROA_ASSIGN(const DataType type, data_type_of(node.get_output_element_type(0)));
  return add(state, node, engine::Convert{type}, {state.input(node, 0)});
}

Result<ValueId> concat(ImportState& state, const ov::Node& node) {
  auto axis = static_cast<const ov::op::v0::Concat&>(node).get_axis();
  if (axis < 0) axis += static_cast<std::int64_t>(node.get_output_shape(0).size());
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < node.get_input_size(); ++i) inputs.push_back(state.input(node, i));
  return add(state, node, engine::Concat{axis}, std::move(inputs));
}

Result<ValueId> batch_norm(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::v5::BatchNormInference&>(node);
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < 5; ++i) inputs.push_back(state.input(node, i));
  return add(state, node,
             engine::BatchNorm{engine::Layout::kNchw, static_cast<float>(op.get_eps_value())},
             std::move(inputs));
}

Result<ValueId> pad(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::util::PadBase&>(node);
  if (op.get_pad_mode() != ov::op::PadMode::CONSTANT) {
    return error::unimplemented("only padding with a constant");
  }
  PROA_ASSIGN(const std::vector<std::int64_t> begin, constant_input(node, 1));
  PROA_ASSIGN(const std::vector<std::int64_t> end, constant_input(node, 2));
  engine::Pad pad{begin, end, 0};
  if (node.get_input_size() > 3) {
    const auto* value = ov::as_type<const ov::op::v0::Constant>(node.get_input_node_ptr(3));
    if (value == nullptr) return error::unimplemented("its number is computed, not a constant");
    pad.value = value->cast_vector<float>().front();
  }
  return add(state, node, std::move(pad), {state.input(node, 0)});
}

Result<ValueId> lrn(ImportState& state, const ov::Node& node) {
  const auto& op = static_cast<const ov::op::v0::LRN&>(node);
  PROA_ASSIGN(const std::vector<std::int64_t> axes, constant_input(node, 1));
  if (axes != std::vector<std::int64_t>{1} || node.get_input_shape(0).size() != 4) {
    return error::unimplemented("only over the channels of pictures");
  }
  return add(state, node,
             engine::Lrn{engine::Layout::kNchw, static_cast<std::int64_t>(op.get_nsize()),
                         static_cast<float>(op.get_alpha()), static_cast<float>(op.get_beta()),
                         static_cast<float>(op.get_bias())},
             {state.input(node, 0)});
}

// Every operator that the engine takes. A type not listed here runs elsewhere.
constexpr std::pair<std::string_view, Converter> kConverters[] = {
    {"Convolution", convolution},
    {"GroupConvolution", group_convolution},
    {"MatMul", matmul},
    {"Add", binary<BinaryKind::kAdd>},
    {"Subtract", binary<BinaryKind::kSubtract>},
    {"Multiply", binary<BinaryKind::kMultiply>},
    {"Divide", binary<BinaryKind::kDivide>},
    {"Maximum", binary<BinaryKind::kMaximum>},
    {"Minimum", binary<BinaryKind::kMinimum>},
    {"Identity", unary<Function::kIdentity>},
    {"Relu", unary<Function::kRelu>},
    {"Clamp", clamp},
    {"Sigmoid", unary<Function::kSigmoid>},
    {"Tanh", unary<Function::kTanh>},
    {"Exp", unary<Function::kExp>},
    {"Sqrt", unary<Function::kSqrt>},
    {"Abs", unary<Function::kAbs>},
    {"Negative", unary<Function::kNegative>},
    {"HSwish", unary<Function::kHardSwish>},
    {"Swish", swish},
    {"MaxPool", any_max_pool},
    {"AvgPool", average_pool},
    {"ReduceMean", reduce<ReduceKind::kMean>},
    {"ReduceSum", reduce<ReduceKind::kSum>},
    {"ReduceMax", reduce<ReduceKind::kMax>},
    {"Reshape", reshape},
    {"Squeeze", reshape},
    {"Unsqueeze", reshape},
    {"Transpose", transpose},
    {"Softmax", any_softmax},
    {"Convert", convert},
    {"Concat", concat},
    {"BatchNormInference", batch_norm},
    {"LRN", lrn},
    {"Pad", pad},
};

}  // namespace

Converter find_converter(std::string_view type) {
  for (const auto& [name, converter] : kConverters) {
    if (name == type) return converter;
  }
  return nullptr;
}

Result<DataType> data_type_of(const ov::element::Type& type) {
  switch (type) {
    case ov::element::f32:
      return DataType::kFp32;
    case ov::element::f16:
      return DataType::kFp16;
    case ov::element::f64:
      return DataType::kFp64;
    case ov::element::u8:
      return DataType::kUint8;
    case ov::element::i8:
      return DataType::kInt8;
    case ov::element::i16:
      return DataType::kInt16;
    case ov::element::u16:
      return DataType::kUint16;
    case ov::element::i32:
      return DataType::kInt32;
    case ov::element::u32:
      return DataType::kUint32;
    case ov::element::i64:
      return DataType::kInt64;
    case ov::element::u64:
      return DataType::kUint64;
    case ov::element::boolean:
      return DataType::kBool;
    default:
      return error::unimplemented("the engine has no numbers of type {}", type.get_type_name());
  }
}

}  // namespace proa::backends::cuda
