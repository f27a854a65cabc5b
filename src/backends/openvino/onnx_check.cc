#include "backends/openvino/onnx_check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace proa::backends::openvino {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

struct Operator {
  std::string_view name;
  std::size_t inputs;  // the fewest that any version of it takes
};

// The standard operators that take inputs, in alphabetic order.
constexpr Operator kOperators[] = {
    {"Abs", 1},
    {"Acos", 1},
    {"Acosh", 1},
    {"Add", 2},
    {"AffineGrid", 2},
    {"And", 2},
    {"ArgMax", 1},
    {"ArgMin", 1},
    {"Asin", 1},
    {"Asinh", 1},
    {"Atan", 1},
    {"Atanh", 1},
    {"Attention", 3},
    {"AveragePool", 1},
    {"BatchNormalization", 5},
    {"Bernoulli", 1},
    {"BitCast", 1},
    {"BitShift", 2},
    {"BitwiseAnd", 2},
    {"BitwiseNot", 1},
    {"BitwiseOr", 2},
    {"BitwiseXor", 2},
    {"BlackmanWindow", 1},
    {"Cast", 1},
    {"CastLike", 2},
    {"CausalConvWithState", 2},
    {"Ceil", 1},
    {"Celu", 1},
    {"CenterCropPad", 2},
    {"Clip", 1},
    {"Col2Im", 3},
    {"Compress", 2},
    {"Concat", 1},
    {"ConcatFromSequence", 1},
    {"ConstantOfShape", 1},
    {"Conv", 2},
    {"ConvInteger", 2},
    {"ConvTranspose", 2},
    {"Cos", 1},
    {"Cosh", 1},
    {"CumProd", 2},
    {"CumSum", 2},
    {"DFT", 1},
    {"DeformConv", 3},
    {"DepthToSpace", 1},
    {"DequantizeLinear", 2},
    {"Det", 1},
    {"Div", 2},
    {"Dropout", 1},
    {"DynamicQuantizeLinear", 1},
    {"Einsum", 1},
    {"Elu", 1},
    {"Equal", 2},
    {"Erf", 1},
    {"Exp", 1},
    {"Expand", 2},
    {"EyeLike", 1},
    {"Flatten", 1},
    {"Floor", 1},
    {"GRU", 3},
    {"Gather", 2},
    {"GatherElements", 2},
    {"GatherND", 2},
    {"Gelu", 1},
    {"Gemm", 2},
    {"GlobalAveragePool", 1},
    {"GlobalLpPool", 1},
    {"GlobalMaxPool", 1},
    {"Greater", 2},
    {"GreaterOrEqual", 2},
    {"GridSample", 2},
    {"GroupNormalization", 3},
    {"HammingWindow", 1},
    {"HannWindow", 1},
    {"HardSigmoid", 1},
    {"HardSwish", 1},
    {"Hardmax", 1},
    {"Identity", 1},
    {"If", 1},
    {"ImageDecoder", 1},
    {"InstanceNormalization", 3},
    {"IsInf", 1},
    {"IsNaN", 1},
    {"LRN", 1},
    {"LSTM", 3},
    {"LayerNormalization", 2},
    {"LeakyRelu", 1},
    {"Less", 2},
    {"LessOrEqual", 2},
    {"LinearAttention", 3},
    {"Log", 1},
    {"LogSoftmax", 1},
    {"Loop", 2},
    {"LpNormalization", 1},
    {"LpPool", 1},
    {"MatMul", 2},
    {"MatMulInteger", 2},
    {"Max", 1},
    {"MaxPool", 1},
    {"MaxRoiPool", 2},
    {"MaxUnpool", 2},
    {"Mean", 1},
    {"MeanVarianceNormalization", 1},
    {"MelWeightMatrix", 5},
    {"Min", 1},
    {"Mish", 1},
    {"Mod", 2},
    {"Mul", 2},
    {"Multinomial", 1},
    {"Neg", 1},
    {"NegativeLogLikelihoodLoss", 2},
    {"NonMaxSuppression", 2},
    {"NonZero", 1},
    {"Not", 1},
    {"OneHot", 3},
    {"OptionalGetElement", 1},
    {"Or", 2},
    {"PRelu", 2},
    {"Pad", 1},
    {"Pow", 2},
    {"QLinearConv", 8},
    {"QLinearMatMul", 8},
    {"QuantizeLinear", 2},
    {"RMSNormalization", 2},
    {"RNN", 3},
    {"RandomNormalLike", 1},
    {"RandomUniformLike", 1},
    {"Range", 3},
    {"Reciprocal", 1},
    {"ReduceL1", 1},
    {"ReduceL2", 1},
    {"ReduceLogSum", 1},
    {"ReduceLogSumExp", 1},
    {"ReduceMax", 1},
    {"ReduceMean", 1},
    {"ReduceMin", 1},
    {"ReduceProd", 1},
    {"ReduceSum", 1},
    {"ReduceSumSquare", 1},
    {"RegexFullMatch", 1},
    {"Relu", 1},
    {"Reshape", 1},
    {"Resize", 1},
    {"ReverseSequence", 2},
    {"RoiAlign", 3},
    {"RotaryEmbedding", 3},
    {"Round", 1},
    {"STFT", 2},
    {"Scan", 1},
    {"Scatter", 3},
    {"ScatterElements", 3},
    {"ScatterND", 3},
    {"Selu", 1},
    {"SequenceAt", 2},
    {"SequenceConstruct", 1},
    {"SequenceErase", 1},
    {"SequenceInsert", 2},
    {"SequenceLength", 1},
    {"SequenceMap", 1},
    {"Shape", 1},
    {"Shrink", 1},
    {"Sigmoid", 1},
    {"Sign", 1},
    {"Sin", 1},
    {"Sinh", 1},
    {"Size", 1},
    {"Slice", 1},
    {"Softmax", 1},
    {"SoftmaxCrossEntropyLoss", 2},
    {"Softplus", 1},
    {"Softsign", 1},
    {"SpaceToDepth", 1},
    {"Split", 1},
    {"SplitToSequence", 1},
    {"Sqrt", 1},
    {"Squeeze", 1},
    {"StringConcat", 2},
    {"StringNormalizer", 1},
    {"StringSplit", 1},
    {"Sub", 2},
    {"Sum", 1},
    {"SwiGLU", 2},
    {"Swish", 1},
    {"Tan", 1},
    {"Tanh", 1},
    {"TensorScatter", 2},
    {"TfIdfVectorizer", 1},
    {"ThresholdedRelu", 1},
    {"Tile", 2},
    {"TopK", 1},
    {"Transpose", 1},
    {"Trilu", 1},
    {"Unique", 1},
    {"Unsqueeze", 1},
    {"Upsample", 1},
    {"Where", 3},
    {"Xor", 2},
};

// Field numbers of onnx.proto.
constexpr int kModelGraph = 7;
constexpr int kModelFunctions = 25;
constexpr int kGraphNode = 1;
constexpr int kFunctionNode = 7;
constexpr int kNodeInput = 1;
constexpr int kNodeName = 3;
constexpr int kNodeOperator = 4;
constexpr int kNodeAttribute = 5;
constexpr int kNodeDomain = 7;
constexpr int kAttributeGraph = 6;
constexpr int kAttributeGraphs = 11;
constexpr int kMaxDepth = 50;  // graphs inside of graphs

// Calls on_field(number, bytes) for every length-delimited field of `message`; false when it is no
// protobuf message or a call said so.
template <class OnField>
bool for_each_field(std::string_view message, OnField on_field) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  while (const std::uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) return false;
      continue;
    }
    int length = 0;
    if (!in.ReadVarintSizeAsInt(&length)) return false;
    const auto at = static_cast<std::size_t>(in.CurrentPosition());
    if (!in.Skip(length)) return false;
    if (!on_field(WireFormatLite::GetTagFieldNumber(tag),
                  message.substr(at, static_cast<std::size_t>(length)))) {
      return false;
    }
  }
  return in.ConsumedEntireMessage() || in.CurrentPosition() == static_cast<int>(message.size());
}

struct Node {
  std::string_view name, operator_name, domain;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> attributes;
};

Status check_node(const Node& node) {
  if (!node.domain.empty() && node.domain != "ai.onnx") return {};
  const auto* found = std::ranges::lower_bound(kOperators, node.operator_name, {}, &Operator::name);
  if (found == std::end(kOperators) || found->name != node.operator_name) return {};
  std::size_t given = 0;
  while (given < node.inputs.size() && !node.inputs[given].empty()) ++given;
  if (given >= found->inputs) return {};
  return error::invalid_argument(
      "node '{}' ({}) has {} of the {} inputs that its operator needs; export the model again",
      log::printable(node.name), found->name, given, found->inputs);
}

// The nodes of a graph or function, whose field `node_field` they are.
Status check_nodes(std::string_view graph, int node_field, int depth);

Status check_attribute(std::string_view attribute, int depth) {
  Status status;
  for_each_field(attribute, [&](int field, std::string_view bytes) {
    if (field == kAttributeGraph || field == kAttributeGraphs) {
      status = check_nodes(bytes, kGraphNode, depth + 1);
    }
    return status.has_value();
  });
  return status;
}

Status check_nodes(std::string_view graph, int node_field, int depth) {
  if (depth > kMaxDepth) {
    return error::invalid_argument("graphs are nested more than {} deep", kMaxDepth);
  }
  Status status;
  for_each_field(graph, [&](int field, std::string_view bytes) {
    if (field != node_field) return true;
    Node node;
    for_each_field(bytes, [&](int part, std::string_view value) {
      if (part == kNodeInput) node.inputs.push_back(value);
      if (part == kNodeName) node.name = value;
      if (part == kNodeOperator) node.operator_name = value;
      if (part == kNodeDomain) node.domain = value;
      if (part == kNodeAttribute) node.attributes.push_back(value);
      return true;
    });
    status = check_node(node);
    for (const std::string_view attribute : node.attributes) {
      if (status) status = check_attribute(attribute, depth);
    }
    return status.has_value();
  });
  return status;
}

}  // namespace

Status check_onnx_inputs(std::span<const std::byte> model) {
  if (model.size() > INT_MAX) return {};  // more than a protobuf message can be
  Status status;
  for_each_field({reinterpret_cast<const char*>(model.data()), model.size()},
                 [&](int field, std::string_view bytes) {
                   if (field == kModelGraph) status = check_nodes(bytes, kGraphNode, 0);
                   if (field == kModelFunctions) status = check_nodes(bytes, kFunctionNode, 0);
                   return status.has_value();
                 });
  return status;
}

Status check_onnx_inputs(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about{};
  if (fd < 0 || fstat(fd, &about) != 0 || about.st_size <= 0) {
    if (fd >= 0) close(fd);
    return {};
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return {};
  const Status status = check_onnx_inputs(std::span(static_cast<const std::byte*>(memory), size));
  munmap(memory, size);
  return status;
}

}  // namespace proa::backends::openvino
