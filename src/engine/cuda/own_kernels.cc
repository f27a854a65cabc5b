// The engine's own fast kernels as step kernels. Each has one variant, named "".
#include <limits>

#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"
#include "engine/passes/match.h"

namespace proa::engine::cuda {
namespace {

// A kernel whose launch is a function of the node and the pointers. The graph's values are copied,
// so that it outlives the plan that it was built for.
class OwnKernel final : public StepKernel {
 public:
  using Launch = cudaError_t (*)(const Graph& graph, const Node& node, const Arguments& arguments,
                                 cudaStream_t stream);
  OwnKernel(const Graph& graph, const Node& node, Launch launch) : launch_(launch) {
    // A graph of this node alone: its values without their bytes.
    node_ = node;
    for (ValueId& id : node_.inputs) {
      if (id != kNoValue) id = copy(graph.value(id));
    }
    for (ValueId& id : node_.outputs) id = copy(graph.value(id));
  }

  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    PROA_CUDA(launch_(graph_, node_, arguments, stream));
    return {};
  }

 private:
  ValueId copy(const Value& value) { return graph_.add_value(value.name, value.type, value.shape); }

  Graph graph_;
  Node node_;
  Launch launch_;
};

cudaError_t pack(const Graph& graph, const Node& node, const Arguments& arguments,
                 cudaStream_t stream) {
  const auto& op = std::get<Pack>(node.op);
  const Shape& x = graph.value(node.inputs[0]).shape;
  const ImageAxes a = image_axes(op.layout);
  return launch_pack(source_of(graph, node, arguments, 0), op.layout == Layout::kNchw,
                     static_cast<int>(x[a.n]), static_cast<int>(x[a.h]), static_cast<int>(x[a.w]),
                     static_cast<int>(x[a.c]),
                     static_cast<const float*>(source_of(graph, node, arguments, 1).data),
                     static_cast<const float*>(source_of(graph, node, arguments, 2).data),
                     arguments.output, number_of(op.type), stream);
}

cudaError_t pool(const Graph& graph, const Node& node, const Arguments& arguments,
                 cudaStream_t stream) {
  return launch_max_pool(arguments.inputs[0], arguments.output, pool_shape(graph, node), stream);
}

// What `input_max` of an operator means to a kernel.
float bound_of(float input_max) {
  return input_max > 0 ? input_max : std::numeric_limits<float>::infinity();
}

cudaError_t spatial_mean(const Graph& graph, const Node& node, const Arguments& arguments,
                         cudaStream_t stream) {
  const Shape& x = graph.value(node.inputs[0]).shape;
  const std::int64_t n = x[0], c = x[x.rank() - 1];
  const std::int64_t inner = graph.value(node.inputs[0]).elements() / (n * c);
  return launch_spatial_mean(arguments.inputs[0], arguments.output, static_cast<int>(n),
                             static_cast<int>(inner), static_cast<int>(c),
                             bound_of(std::get<Reduce>(node.op).input_max), stream);
}

Operand operand_of(const Graph& graph, const Node& node, const Arguments& arguments,
                   std::size_t i) {
  const Value& input = graph.value(node.inputs[i]);
  const Value& output = graph.value(node.output());
  Operand operand{source_of(graph, node, arguments, i), Spread::kVector};
  if (input.shape == output.shape) {
    operand.spread = Spread::kFull;
  } else if (input.elements() == 1) {
    operand.spread = Spread::kScalar;
  }
  return operand;
}

cudaError_t pointwise(const Graph& graph, const Node& node, const Arguments& arguments,
                      cudaStream_t stream) {
  const Value& output = graph.value(node.output());
  const auto* binary = std::get_if<Binary>(&node.op);
  const auto* unary = std::get_if<Unary>(&node.op);
  const Activation act = binary != nullptr  ? binary->act
                         : unary != nullptr ? unary->act
                                            : Activation{};
  const int channels =
      output.shape.empty() ? 1 : static_cast<int>(output.shape[output.shape.rank() - 1]);
  return launch_pointwise(operand_of(graph, node, arguments, 0),
                          binary != nullptr ? operand_of(graph, node, arguments, 1) : Operand{},
                          binary != nullptr, binary != nullptr ? binary->kind : BinaryKind::kAdd,
                          act, arguments.output, number_of(output.type), output.elements(),
                          channels, stream);
}

Result<std::vector<std::string>> only_variant(const Graph&, const Node&, Libraries&) {
  return std::vector<std::string>{""};
}

template <OwnKernel::Launch launch>
Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node, std::string_view,
                                          Libraries&) {
  return std::make_unique<OwnKernel>(graph, node, launch);
}

// One convolution or matrix product, any form.
cudaError_t plain_conv(const Graph& graph, const Node& node, const Arguments& arguments,
                       cudaStream_t stream) {
  const auto& conv = std::get<Conv>(node.op);
  const auto source = [&](std::size_t i) { return source_of(graph, node, arguments, i); };
  Source x = source(0);
  x.max = bound_of(conv.input_max);
  return reference_conv(x, source(1), source(2), source(3), conv.act, conv_shape(graph, node),
                        conv.layout == Layout::kNchw, arguments.output,
                        number_of(graph.value(node.output()).type), stream);
}

cudaError_t plain_matmul(const Graph& graph, const Node& node, const Arguments& arguments,
                         cudaStream_t stream) {
  const auto& op = std::get<MatMul>(node.op);
  const Value& output = graph.value(node.output());
  const std::size_t rank = output.shape.rank();
  const Shape batch(output.shape.dims().first(rank - 2));
  const auto& a = graph.value(node.inputs[0]).shape;
  const auto& b = graph.value(node.inputs[1]).shape;
  MatMulShape s{};
  s.m = static_cast<int>(output.shape[rank - 2]);
  s.n = static_cast<int>(output.shape[rank - 1]);
  s.k = static_cast<int>(op.transpose_a ? a[a.rank() - 2] : a[a.rank() - 1]);
  s.batch = extents_of(batch);
  const auto batch_strides = [&](const Shape& shape) {
    Strides strides = broadcast_strides(Shape(shape.dims().first(shape.rank() - 2)), batch);
    for (std::int64_t& step : strides.step) {
      step *= shape[shape.rank() - 2] * shape[shape.rank() - 1];
    }
    return strides;
  };
  s.a_batch = batch_strides(a);
  s.b_batch = batch_strides(b);
  s.a_row = op.transpose_a ? 1 : s.k;
  s.a_column = op.transpose_a ? s.m : 1;
  s.b_row = op.transpose_b ? 1 : s.n;
  s.b_column = op.transpose_b ? s.k : 1;
  const auto source = [&](std::size_t i) { return source_of(graph, node, arguments, i); };
  return reference_matmul(source(0), source(1), source(2), source(3), op.act, s, arguments.output,
                          number_of(output.type), stream);
}

cudaError_t plain_map(const Graph& graph, const Node& node, const Arguments& arguments,
                      cudaStream_t stream) {
  const Value& output = graph.value(node.output());
  if (is_copy(graph, node)) {  // of bytes: FP32 does not hold all integers
    const Shape bytes{static_cast<std::int64_t>(output.bytes())};
    const Strides dense = broadcast_strides(bytes, bytes);
    return reference_map({arguments.inputs[0], Number::kUint8}, dense, {}, {}, false,
                         BinaryKind::kAdd, {}, extents_of(bytes), arguments.output, Number::kUint8,
                         stream);
  }
  const Shape& a = graph.value(node.inputs[0]).shape;
  const auto* binary = std::get_if<Binary>(&node.op);
  const auto* unary = std::get_if<Unary>(&node.op);
  const auto* transpose = std::get_if<Transpose>(&node.op);
  Strides first = broadcast_strides(a, output.shape), second;
  if (transpose != nullptr) {
    const Strides dense = broadcast_strides(a, a);
    for (std::size_t i = 0; i < transpose->order.size(); ++i) {
      first.step[i] = dense.step[static_cast<std::size_t>(transpose->order[i])];
    }
  } else if (unary != nullptr) {  // also a copy under another shape
    first = broadcast_strides(output.shape, output.shape);
  }
  if (binary != nullptr) {
    second = broadcast_strides(graph.value(node.inputs[1]).shape, output.shape);
  }
  return reference_map(source_of(graph, node, arguments, 0), first,
                       binary != nullptr ? source_of(graph, node, arguments, 1) : Source{}, second,
                       binary != nullptr, binary != nullptr ? binary->kind : BinaryKind::kAdd,
                       binary != nullptr  ? binary->act
                       : unary != nullptr ? unary->act
                                          : Activation{},
                       extents_of(output.shape), arguments.output, number_of(output.type), stream);
}

cudaError_t plain_reduce(const Graph& graph, const Node& node, const Arguments& arguments,
                         cudaStream_t stream) {
  const auto& op = std::get<Reduce>(node.op);
  const Shape& x = graph.value(node.inputs[0]).shape;
  const Strides dense = broadcast_strides(x, x);
  Extents outer, inner;
  Strides outer_strides, inner_strides;
  std::size_t next = 0;
  for (std::size_t d = 0; d < x.rank(); ++d) {
    const bool reduced = next < op.axes.size() && op.axes[next] == static_cast<std::int64_t>(d);
    if (reduced) ++next;
    Extents& extents = reduced ? inner : outer;
    (reduced ? inner_strides : outer_strides).step[extents.rank] = dense.step[d];
    extents.size[extents.rank++] = x[d];
  }
  Source source = source_of(graph, node, arguments, 0);
  source.max = bound_of(op.input_max);
  return reference_reduce(source, outer, outer_strides, inner, inner_strides, op.kind,
                          arguments.output, number_of(graph.value(node.output()).type), stream);
}

cudaError_t plain_pool(const Graph& graph, const Node& node, const Arguments& arguments,
                       cudaStream_t stream) {
  const auto& op = std::get<Pool>(node.op);
  return reference_pool(source_of(graph, node, arguments, 0), pool_shape(graph, node),
                        op.layout == Layout::kNchw, op.kind == PoolKind::kMax, op.count_padding,
                        arguments.output, number_of(graph.value(node.output()).type), stream);
}

cudaError_t plain_pad(const Graph& graph, const Node& node, const Arguments& arguments,
                      cudaStream_t stream) {
  const auto& op = std::get<Pad>(node.op);
  const Value& output = graph.value(node.output());
  return reference_pad(source_of(graph, node, arguments, 0),
                       extents_of(graph.value(node.inputs[0]).shape), extents_of(Shape(op.begin)),
                       extents_of(output.shape), op.value, arguments.output, number_of(output.type),
                       stream);
}

cudaError_t plain_lrn(const Graph& graph, const Node& node, const Arguments& arguments,
                      cudaStream_t stream) {
  const auto& op = std::get<Lrn>(node.op);
  const Value& output = graph.value(node.output());
  const bool planes = op.layout == Layout::kNchw;
  LrnShape shape{};
  shape.inner = planes ? output.shape[2] * output.shape[3] : 1;
  shape.channels = static_cast<int>(output.shape[planes ? 1 : 3]);
  shape.size = static_cast<int>(op.size);
  shape.alpha = op.alpha;
  shape.beta = op.beta;
  shape.bias = op.bias;
  return reference_lrn(source_of(graph, node, arguments, 0), shape, arguments.output,
                       number_of(output.type), output.elements(), stream);
}

cudaError_t plain_softmax(const Graph& graph, const Node& node, const Arguments& arguments,
                          cudaStream_t stream) {
  const Value& output = graph.value(node.output());
  const auto rank = static_cast<std::int64_t>(output.shape.rank());
  std::int64_t axis = std::get<Softmax>(node.op).axis;
  if (axis < 0) axis += rank;
  std::int64_t inner = 1;
  for (std::int64_t d = axis + 1; d < rank; ++d) inner *= output.shape[static_cast<std::size_t>(d)];
  const std::int64_t extent = output.shape[static_cast<std::size_t>(axis)];
  return reference_softmax(source_of(graph, node, arguments, 0), output.elements() / extent,
                           static_cast<int>(extent), inner, arguments.output,
                           number_of(output.type), stream);
}

cudaError_t plain_concat(const Graph& graph, const Node& node, const Arguments& arguments,
                         cudaStream_t stream) {
  const Value& output = graph.value(node.output());
  const auto axis = static_cast<std::size_t>(std::get<Concat>(node.op).axis);
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= output.shape[d];
  const std::int64_t y_run = output.elements() / outer;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::int64_t run = graph.value(node.inputs[i]).elements() / outer;
    const cudaError_t code =
        reference_concat(source_of(graph, node, arguments, i), outer, run, y_run, offset,
                         arguments.output, number_of(output.type), stream);
    if (code != cudaSuccess) return code;
    offset += run;
  }
  return cudaSuccess;
}

cudaError_t plain_stem(const Graph& graph, const Node& node, const Arguments& arguments,
                       cudaStream_t stream) {
  const auto source = [&](std::size_t i) { return source_of(graph, node, arguments, i); };
  return reference_stem(source(0), source(1), source(2), source(3), source(4),
                        stem_shape(graph, node), arguments.output, stream);
}

// The plain kernel of any operator.
cudaError_t plain(const Graph& graph, const Node& node, const Arguments& arguments,
                  cudaStream_t stream) {
  const Op& op = node.op;
  if (std::holds_alternative<Conv>(op)) return plain_conv(graph, node, arguments, stream);
  if (std::holds_alternative<MatMul>(op)) return plain_matmul(graph, node, arguments, stream);
  if (std::holds_alternative<Pool>(op)) return plain_pool(graph, node, arguments, stream);
  if (std::holds_alternative<Reduce>(op)) return plain_reduce(graph, node, arguments, stream);
  if (std::holds_alternative<Pad>(op)) return plain_pad(graph, node, arguments, stream);
  if (std::holds_alternative<Lrn>(op)) return plain_lrn(graph, node, arguments, stream);
  if (std::holds_alternative<Softmax>(op)) return plain_softmax(graph, node, arguments, stream);
  if (std::holds_alternative<Concat>(op)) return plain_concat(graph, node, arguments, stream);
  if (std::holds_alternative<Stem>(op)) return plain_stem(graph, node, arguments, stream);
  if (std::holds_alternative<Pack>(op)) return pack(graph, node, arguments, stream);
  return plain_map(graph, node, arguments, stream);
}

}  // namespace

const KernelMaker kPackMaker = {Implementation::kPack, only_variant, build<pack>};
const KernelMaker kPoolVectorMaker = {Implementation::kPoolVector, only_variant, build<pool>};
const KernelMaker kSpatialMeanMaker = {Implementation::kSpatialMean, only_variant,
                                       build<spatial_mean>};
const KernelMaker kPointwiseMaker = {Implementation::kPointwise, only_variant, build<pointwise>};
const KernelMaker kReferenceMaker = {Implementation::kReference, only_variant, build<plain>};

}  // namespace proa::engine::cuda
