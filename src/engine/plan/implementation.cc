#include "engine/plan/implementation.h"

#include <algorithm>
#include <bit>

#include "engine/graph/infer.h"
#include "engine/passes/match.h"

namespace proa::engine {
namespace {

using Reason = std::string_view;

const Value& input_value(const Graph& graph, const Node& node, std::size_t i) {
  return graph.value(node.inputs[i]);
}
bool all_half(const Graph& graph, const Node& node) {
  return graph.value(node.output()).type == DataType::kFp16 &&
         input_value(graph, node, 0).type == DataType::kFp16;
}
bool all_float(const Graph& graph, const Node& node) {
  return graph.value(node.output()).type == DataType::kFp32 &&
         input_value(graph, node, 0).type == DataType::kFp32 &&
         input_value(graph, node, 1).type == DataType::kFp32;
}
bool constant_bias(const Graph& graph, const Node& node) {
  return node.input(2) == kNoValue || graph.is_constant(node.input(2));
}
bool identity_or_relu(const Activation& act) {
  return act.function == Function::kIdentity || act.function == Function::kRelu;
}

Reason conv_basics(const Graph& graph, const Node& node) {
  const auto& conv = std::get<Conv>(node.op);
  if (!all_half(graph, node) && !all_float(graph, node)) return "computes in FP16 or FP32 only";
  if (conv.layout != Layout::kNhwc) return "wants NHWC";
  if (conv.input_max > 0) return "has no bound for its input";
  if (!graph.is_constant(node.inputs[1])) return "wants constant weights";
  if (!constant_bias(graph, node)) return "wants a constant bias";
  return {};
}

Reason decline_cudnn(const Graph& graph, const Node& node) {
  if (Reason reason = conv_basics(graph, node); !reason.empty()) return reason;
  const auto& conv = std::get<Conv>(node.op);
  if (conv.groups != 1) return "takes no groups";
  const std::int64_t channels = input_value(graph, node, 0).shape[3];
  const std::int64_t outputs = graph.value(node.output()).shape[3];
  // The tensor-core kernels read 16 bytes at a time; a stem of 4 channels has kernels of its own.
  if (channels % 8 != 0 && channels != 4) return "wants a multiple of 8 input channels, or 4";
  if (outputs % 8 != 0) return "wants a multiple of 8 output channels";
  return {};
}

Reason decline_precompiled(const Graph& graph, const Node& node, const Target&) {
  if (Reason reason = decline_cudnn(graph, node); !reason.empty()) return reason;
  if (!identity_or_relu(std::get<Conv>(node.op).act)) return "applies relu only";
  return {};
}

Reason decline_runtime(const Graph& graph, const Node& node, const Target& target) {
  if (Reason reason = decline_cudnn(graph, node); !reason.empty()) return reason;
  const Activation& act = std::get<Conv>(node.op).act;
  const bool clipped = act.function == Function::kClamp && act.low == 0.0f;
  if (!identity_or_relu(act) && !clipped) return "applies relu and clamp from 0 only";
  if (target.compute_capability < 80) return "needs compute capability 8.0";
  if (!all_half(graph, node)) return "compiles FP16 kernels only";
  return {};
}

// The kernel splits the input channels evenly, in powers of two, and holds all that it reads.
Reason decline_few_pixels(const Graph& graph, const Node& node, const Target& target) {
  if (Reason reason = conv_basics(graph, node); !reason.empty()) return reason;
  constexpr std::int64_t kMostPixels = 1024, kWidest = 64, kLargest = 3;
  const auto& conv = std::get<Conv>(node.op);
  const Shape& weight = input_value(graph, node, 1).shape;
  const Shape& y = graph.value(node.output()).shape;
  const std::int64_t channels = weight[3];
  if (target.compute_capability < 90) return "needs compute capability 9.0";
  if (!all_half(graph, node)) return "computes in FP16 only";
  if (conv.groups != 1) return "takes no groups";
  if (y[0] * y[1] * y[2] > kMostPixels) return "takes up to 1024 pixels";
  if (y[2] > kWidest) return "takes up to 64 pixels in a row";
  if (std::max(weight[1], weight[2]) > kLargest) return "takes filters of up to 3x3";
  if (conv.dilations != Dims{1, 1}) return "takes no dilation";
  if (std::max(conv.strides[0], conv.strides[1]) > 2) return "moves by 1 or 2";
  const std::int64_t most_channels = weight[1] * weight[2] == 1 ? 2048 : 1024;
  if (channels < 16 || channels > most_channels || !std::has_single_bit(channels + 0UL)) {
    return "wants a power of two of input channels, 16 to 1024 (2048 for 1x1)";
  }
  if (weight[0] % 16 != 0) return "wants a multiple of 16 output channels";
  if (node.input(2) == kNoValue) return {};
  return input_value(graph, node, 2).type == DataType::kFp32 ? "" : "wants an FP32 bias";
}

bool is_matrix_product(const Graph& graph, const Node& node) {
  const auto& conv = std::get<Conv>(node.op);
  const Shape& weight = input_value(graph, node, 1).shape;
  const Dims none = {0, 0}, one = {1, 1};
  return weight[1] == 1 && weight[2] == 1 && conv.strides == one && conv.pads_begin == none &&
         conv.pads_end == none && conv.groups == 1;
}

Reason decline_lt_conv(const Graph& graph, const Node& node, const Target&) {
  if (Reason reason = conv_basics(graph, node); !reason.empty()) return reason;
  const auto& conv = std::get<Conv>(node.op);
  const Shape& weight = input_value(graph, node, 1).shape;
  if (!is_matrix_product(graph, node)) {
    return "is a matrix product: 1x1, stride 1, no padding, no groups";
  }
  if (weight[0] % 8 != 0 || weight[3] % 8 != 0) return "wants multiples of 8 channels";
  if (!identity_or_relu(conv.act)) return "applies relu only";
  return {};
}

Reason decline_lt_matmul(const Graph& graph, const Node& node, const Target&) {
  const auto& matmul = std::get<MatMul>(node.op);
  if (!all_half(graph, node) && !all_float(graph, node)) return "computes in FP16 or FP32 only";
  if (!graph.is_constant(node.inputs[1])) return "wants constant weights";
  if (!constant_bias(graph, node)) return "wants a constant bias";
  if (matmul.transpose_a) return "wants rows on the left";
  if (input_value(graph, node, 1).shape.rank() != 2) return "wants one matrix on the right";
  if (!identity_or_relu(matmul.act)) return "applies relu only";
  return {};
}

// Bound by the weights, which must lie in rows.
Reason decline_few_rows(const Graph& graph, const Node& node, const Target&) {
  const auto& matmul = std::get<MatMul>(node.op);
  if (!all_half(graph, node)) return "computes in FP16 only";
  if (!graph.is_constant(node.inputs[1])) return "wants constant weights";
  const Shape& weight = input_value(graph, node, 1).shape;
  if (weight.rank() != 2) return "wants one matrix on the right";
  if (matmul.transpose_a || !matmul.transpose_b) return "wants rows on both sides";
  if (weight[1] % 8 != 0) return "wants sums over a multiple of 8";
  if (graph.value(node.output()).elements() / weight[0] > 8) return "takes up to 8 rows";
  if (has_residual(node)) return "adds no residual";
  if (node.input(2) == kNoValue) return {};
  const Value& bias = input_value(graph, node, 2);
  const bool good =
      constant_bias(graph, node) && bias.type == DataType::kFp32 && bias.elements() == weight[0];
  return good ? "" : "wants a constant FP32 bias";
}

Reason decline_pool_vector(const Graph& graph, const Node& node, const Target&) {
  const auto& pool = std::get<Pool>(node.op);
  if (!all_half(graph, node)) return "computes in FP16 only";
  if (pool.layout != Layout::kNhwc) return "wants NHWC";
  if (pool.kind != PoolKind::kMax) return "computes maxima only";
  if (graph.value(node.output()).shape[3] % 8 != 0) return "wants a multiple of 8 channels";
  return {};
}

// [N, ..., C] reduced over everything in between.
Reason decline_spatial_mean(const Graph& graph, const Node& node, const Target&) {
  return spatial_mean_obstacle(graph, node);
}

Reason decline_depthwise(const Graph& graph, const Node& node, const Target&) {
  return depthwise_obstacle(graph, node);
}

bool float_type(DataType type) { return type == DataType::kFp16 || type == DataType::kFp32; }

// What our kernels that compute several convolutions want of each that is not depthwise.
Reason decline_fused_conv(const Graph& graph, const Node& node, const Target& target) {
  if (target.compute_capability < 80) return "needs compute capability 8.0";
  if (!all_half(graph, node)) return "computes in FP16 only";
  if (Reason reason = conv_basics(graph, node); !reason.empty()) return reason;
  const Activation& act = std::get<Conv>(node.op).act;
  if (!identity_or_relu(act) && act.function != Function::kClamp) {
    return "applies bounds only";
  }
  const bool float_bias =
      node.input(2) == kNoValue || input_value(graph, node, 2).type == DataType::kFp32;
  return float_bias ? "" : "wants an FP32 bias";
}

// What our kernels that compute `first` on the way to a depthwise convolution want of it.
Reason decline_before_depthwise(const Graph& graph, const Node& first, const Target& target) {
  if (has_residual(first)) return "adds no residual";
  return decline_fused_conv(graph, first, target);
}

// A 1x1 convolution whose pixels stay in shared memory for the depthwise one behind it.
Reason decline_expand(const Graph& graph, std::span<const Node* const> nodes,
                      const Target& target) {
  const Node& first = *nodes[0];
  if (Reason reason = decline_before_depthwise(graph, first, target); !reason.empty()) {
    return reason;
  }
  if (!is_matrix_product(graph, first)) return "wants a 1x1 convolution by 1 first";
  const std::int64_t channels = input_value(graph, first, 0).shape[3];
  if (channels % 8 != 0 || channels > 256) return "wants up to 256 channels, a multiple of 8";
  return depthwise_obstacle(graph, *nodes[1]);
}

std::int64_t input_channels(const Graph& graph, const Node& node) {
  return input_value(graph, node, 0).shape[3];
}

// Channels of a result lie in the registers of a warp, 32 at a time.
bool whole_groups(std::int64_t channels) { return channels % 32 == 0; }
// How many are summed, and how many the next convolution makes, where there is a kernel that holds
// both (cuda/kernels/block_end.cu).
constexpr std::pair<std::int64_t, std::int64_t> kHeldChannels[] = {
    {64, 64}, {64, 128}, {128, 64}, {128, 128}};

// The convolution that adds the residual.
Reason decline_sum(const Graph& graph, const Node& sum, const Target& target) {
  if (Reason reason = decline_fused_conv(graph, sum, target); !reason.empty()) return reason;
  if (!is_matrix_product(graph, sum)) return "wants 1x1 convolutions by 1 around the sum";
  const std::int64_t outputs = graph.value(sum.output()).shape[3];
  const bool whole = whole_groups(input_channels(graph, sum)) && whole_groups(outputs);
  return whole ? "" : "wants multiples of 32 channels";
}

Reason decline_next(const Graph& graph, const Node& next, std::int64_t summed,
                    const Target& target) {
  if (Reason reason = decline_fused_conv(graph, next, target); !reason.empty()) return reason;
  if (!is_matrix_product(graph, next)) return "wants 1x1 convolutions by 1 around the sum";
  if (has_residual(next)) return "adds one residual";
  const std::pair channels(summed, graph.value(next.output()).shape[3]);
  const bool held = std::ranges::find(kHeldChannels, channels) != std::end(kHeldChannels);
  return held ? "" : "sums over 64 or 128 channels, for 64 or 128 behind the sum";
}

// A 1x1 convolution, with or without a residual, and the 1x1 convolution that reads it.
Reason decline_sum_and_next(const Graph& graph, std::span<const Node* const> nodes,
                            const Target& target) {
  if (Reason reason = decline_sum(graph, *nodes[0], target); !reason.empty()) return reason;
  return decline_next(graph, *nodes[1], input_channels(graph, *nodes[0]), target);
}

// A 1x1 convolution by any step whose result the next one adds to its own.
Reason decline_projection_and_sum(const Graph& graph, std::span<const Node* const> nodes,
                                  const Target& target) {
  const Node& projection = *nodes[0];
  if (Reason reason = decline_fused_conv(graph, projection, target); !reason.empty()) return reason;
  const auto& conv = std::get<Conv>(projection.op);
  const Shape& weight = input_value(graph, projection, 1).shape;
  const Dims none = {0, 0};
  if (weight[1] != 1 || weight[2] != 1 || conv.groups != 1 || conv.pads_begin != none ||
      conv.pads_end != none || conv.strides[0] != conv.strides[1]) {
    return "wants a 1x1 projection without padding, by the same step both ways";
  }
  if (!is_identity(conv.act) || has_residual(projection)) return "adds the projection as it is";
  if (!whole_groups(weight[3])) return "wants multiples of 32 channels";
  return decline_sum(graph, *nodes[1], target);
}

Reason decline_block_end(const Graph& graph, std::span<const Node* const> nodes,
                         const Target& target) {
  if (Reason reason = decline_projection_and_sum(graph, nodes.first(2), target); !reason.empty()) {
    return reason;
  }
  const std::int64_t summed = input_channels(graph, *nodes[0]) + input_channels(graph, *nodes[1]);
  return decline_next(graph, *nodes[2], summed, target);
}

Reason decline_picture_depthwise(const Graph& graph, std::span<const Node* const> nodes,
                                 const Target& target) {
  const Node &pack = *nodes[0], &first = *nodes[1], &second = *nodes[2];
  const DataType from = input_value(graph, pack, 0).type;
  if (!float_type(from) && from != DataType::kUint8) return "reads UINT8, FP16 and FP32 only";
  if (Reason reason = decline_before_depthwise(graph, first, target); !reason.empty()) {
    return reason;
  }
  const auto& conv = std::get<Conv>(first.op);
  const Shape& weight = input_value(graph, first, 1).shape;
  const Dims one = {1, 1}, two = {2, 2};
  if (weight[1] != 3 || weight[2] != 3 || weight[3] != 4 || conv.groups != 1) {
    return "wants 3x3 filters of packed pixels";
  }
  if (conv.strides != two || conv.dilations != one) return "moves by 2";
  if (Reason reason = depthwise_obstacle(graph, second); !reason.empty()) return reason;
  return input_value(graph, second, 1).shape[1] == 3 ? "" : "wants 3x3 depthwise";
}

// Elements side by side, or one vector along the last dimension against all of them.
Reason decline_pointwise(const Graph& graph, const Node& node, const Target&) {
  const Value& output = graph.value(node.output());
  if (!float_type(output.type)) return "computes FP16 and FP32 only";
  for (ValueId id : node.inputs) {
    const Value& input = graph.value(id);
    if (!float_type(input.type)) return "reads FP16 and FP32 only";
    const std::int64_t channels = output.shape.empty() ? 1 : output.shape[output.shape.rank() - 1];
    const bool vector = !input.shape.empty() && input.elements() == channels &&
                        input.shape[input.shape.rank() - 1] == channels;
    if (input.shape != output.shape && !vector && input.elements() != 1) {
      return "broadcasts along the last dimension only";
    }
  }
  return {};
}

Reason decline_pack(const Graph& graph, const Node& node, const Target&) {
  const auto& pack = std::get<Pack>(node.op);
  const DataType from = input_value(graph, node, 0).type;
  if (pack.channels != 4) return "packs 4 channels";
  if (!float_type(pack.type)) return "writes FP16 and FP32 only";
  if (!float_type(from) && from != DataType::kUint8) return "reads UINT8, FP16 and FP32 only";
  return {};
}

Reason decline_stem(const Graph& graph, const Node& node, const Target& target) {
  const auto& stem = std::get<Stem>(node.op);
  const DataType from = input_value(graph, node, 0).type;
  const ImageAxes axes = image_axes(stem.layout);
  if (target.compute_capability < 80) return "needs compute capability 8.0";
  if (graph.value(node.output()).type != DataType::kFp16) return "computes in FP16 only";
  const auto is = [&](std::size_t i, DataType type) {  // or absent
    if (node.input(i) == kNoValue) return true;
    return graph.is_constant(node.inputs[i]) && input_value(graph, node, i).type == type;
  };
  if (!is(1, DataType::kFp16) || !is(2, DataType::kFp32) || node.input(2) == kNoValue ||
      !is(3, DataType::kFp32) || !is(4, DataType::kFp32)) {
    return "wants constant FP16 weights and a bias, scale and shift in FP32";
  }
  if (input_value(graph, node, 1).shape != Shape{64, 7, 7, 4}) return "wants 64 filters of 7x7x4";
  Stem shape = stem;  // everything else must be as it is by default
  shape.layout = Layout::kNchw, shape.act = {}, shape.pool_pads_end = {1, 1};
  if (shape != Stem{}) return "moves by 2, pads by 3, pools 3x3 by 2";
  if (!identity_or_relu(stem.act)) return "applies relu only";
  if (input_value(graph, node, 0).shape[axes.c] > 4) return "reads at most 4 channels";
  if (!float_type(from) && from != DataType::kUint8) return "reads UINT8, FP16 and FP32 only";
  return {};
}

Reason decline_reference(const Graph& graph, const Node& node, const Target&) {
  if (is_copy(graph, node)) return {};
  const Value& output = graph.value(node.output());
  if (output.shape.rank() > 6) return "takes at most 6 dimensions";
  if (std::holds_alternative<BatchNorm>(node.op)) return "batch normalisation must be folded";
  const auto known = [](DataType type) {
    return float_type(type) || type == DataType::kUint8 || type == DataType::kInt8 ||
           type == DataType::kInt32 || type == DataType::kInt64;
  };
  if (!known(output.type)) return "knows FP16, FP32, UINT8, INT8, INT32 and INT64 only";
  for (ValueId id : node.inputs) {
    if (id != kNoValue && !known(graph.value(id).type)) {
      return "knows FP16, FP32, UINT8, INT8, INT32 and INT64 only";
    }
  }
  return {};
}

constexpr ImplementationEntry kReferenceEntry = {Implementation::kReference, decline_reference};
constexpr ImplementationEntry kConv[] = {{Implementation::kDepthwise, decline_depthwise},
                                         {Implementation::kCudnnPrecompiled, decline_precompiled},
                                         {Implementation::kCudnnRuntime, decline_runtime},
                                         {Implementation::kCublasLt, decline_lt_conv},
                                         {Implementation::kFewPixels, decline_few_pixels},
                                         kReferenceEntry};
constexpr ImplementationEntry kMatMul[] = {{Implementation::kFewRows, decline_few_rows},
                                           {Implementation::kCublasLt, decline_lt_matmul},
                                           kReferenceEntry};
constexpr ImplementationEntry kPool[] = {{Implementation::kPoolVector, decline_pool_vector},
                                         kReferenceEntry};
constexpr ImplementationEntry kReduce[] = {{Implementation::kSpatialMean, decline_spatial_mean},
                                           kReferenceEntry};
constexpr ImplementationEntry kElementwise[] = {{Implementation::kPointwise, decline_pointwise},
                                                kReferenceEntry};
constexpr ImplementationEntry kPackList[] = {{Implementation::kPack, decline_pack},
                                             kReferenceEntry};
constexpr ImplementationEntry kStemList[] = {{Implementation::kStem, decline_stem},
                                             {Implementation::kReference, decline_stem}};
constexpr ImplementationEntry kOther[] = {kReferenceEntry};

Reason decline_to_float(const Graph& graph, std::span<const Node* const> nodes,
                        const Target& target) {
  const Node &product = *nodes[0], &convert = *nodes[1];
  if (!all_half(graph, product)) return "wants an FP16 product";
  if (graph.value(convert.output()).type != DataType::kFp32) return "answers in FP32";
  if (has_residual(product)) return "adds no residual";
  return decline_lt_matmul(graph, product, target);
}

Reason decline_few_rows_to_float(const Graph& graph, std::span<const Node* const> nodes,
                                 const Target& target) {
  if (graph.value(nodes[1]->output()).type != DataType::kFp32) return "answers in FP32";
  return decline_few_rows(graph, *nodes[0], target);
}

constexpr std::string_view kTwoConvs[] = {Conv::kName, Conv::kName};
constexpr std::string_view kThreeConvs[] = {Conv::kName, Conv::kName, Conv::kName};
constexpr std::string_view kPackAndTwoConvs[] = {Pack::kName, Conv::kName, Conv::kName};
constexpr std::string_view kMatMulAndConvert[] = {MatMul::kName, Convert::kName};
constexpr Link kOne[] = {Link::kInput}, kTwo[] = {Link::kInput, Link::kInput};
constexpr Link kShared[] = {Link::kSharedInput}, kProjected[] = {Link::kResidual};
constexpr Link kProjectedAndShared[] = {Link::kResidual, Link::kSharedInput};
constexpr FusionEntry kFusions[] = {
    {Implementation::kFewRows, kMatMulAndConvert, kOne, decline_few_rows_to_float},
    {Implementation::kCublasLtToFloat, kMatMulAndConvert, kOne, decline_to_float},
    {Implementation::kPictureDepthwise, kPackAndTwoConvs, kTwo, decline_picture_depthwise},
    {Implementation::kExpand, kTwoConvs, kOne, decline_expand},
    {Implementation::kBlockEnd, kTwoConvs, kShared, decline_sum_and_next},
    {Implementation::kBlockEnd, kTwoConvs, kProjected, decline_projection_and_sum},
    {Implementation::kBlockEnd, kThreeConvs, kProjectedAndShared, decline_block_end}};

}  // namespace

std::span<const FusionEntry> fusion_implementations() { return kFusions; }

std::string_view name_of(Implementation implementation) {
  switch (implementation) {
    case Implementation::kCudnnPrecompiled:
      return "cudnn_precompiled";
    case Implementation::kCudnnRuntime:
      return "cudnn_runtime";
    case Implementation::kCublasLt:
      return "cublaslt";
    case Implementation::kDepthwise:
      return "depthwise";
    case Implementation::kFewPixels:
      return "few_pixels";
    case Implementation::kFewRows:
      return "few_rows";
    case Implementation::kStem:
      return "stem";
    case Implementation::kExpand:
      return "expand";
    case Implementation::kPictureDepthwise:
      return "picture_depthwise";
    case Implementation::kCublasLtToFloat:
      return "cublaslt_to_float";
    case Implementation::kBlockEnd:
      return "block_end";
    case Implementation::kPack:
      return "pack";
    case Implementation::kPoolVector:
      return "pool_vector";
    case Implementation::kSpatialMean:
      return "spatial_mean";
    case Implementation::kPointwise:
      return "pointwise";
    case Implementation::kReference:
      return "reference";
  }
  return "unknown";
}

std::span<const ImplementationEntry> implementations_of(const Op& op) {
  if (std::holds_alternative<Conv>(op)) return kConv;
  if (std::holds_alternative<MatMul>(op)) return kMatMul;
  if (std::holds_alternative<Pool>(op)) return kPool;
  if (std::holds_alternative<Reduce>(op)) return kReduce;
  if (std::holds_alternative<Pack>(op)) return kPackList;
  if (std::holds_alternative<Stem>(op)) return kStemList;
  if (std::holds_alternative<Reshape>(op)) return {};
  const bool elementwise = std::holds_alternative<Binary>(op) ||
                           std::holds_alternative<Unary>(op) || std::holds_alternative<Convert>(op);
  if (elementwise) return kElementwise;
  return kOther;
}

Offers offers_for(const Graph& graph, const Node& node, const Target& target) {
  Offers offers;
  for (const ImplementationEntry& entry : implementations_of(node.op)) {
    const std::string_view reason = entry.decline(graph, node, target);
    if (reason.empty()) {
      offers.candidates.push_back(entry.id);
    } else {
      offers.declined.push_back({entry.id, reason});
    }
  }
  return offers;
}

}  // namespace proa::engine
