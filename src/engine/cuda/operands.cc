#include "engine/cuda/operands.h"

#include "base/check.h"

namespace proa::engine::cuda {
namespace {

int to_int(std::int64_t number) { return static_cast<int>(number); }

}  // namespace

Number number_of(DataType type) {
  switch (type) {
    case DataType::kFp16:
      return Number::kHalf;
    case DataType::kFp32:
      return Number::kFloat;
    case DataType::kUint8:
      return Number::kUint8;
    case DataType::kInt8:
      return Number::kInt8;
    case DataType::kInt32:
      return Number::kInt32;
    case DataType::kInt64:
      return Number::kInt64;
    default:
      PROA_CHECK(false, "no kernel takes this type");
      return Number::kFloat;
  }
}

Source source_of(const Graph& graph, const Node& node, const Arguments& arguments, std::size_t i) {
  if (node.input(i) == kNoValue) return {};
  return {arguments.inputs[i], number_of(graph.value(node.input(i)).type)};
}

ConvShape conv_shape(const Graph& graph, const Node& node) {
  const auto& conv = std::get<Conv>(node.op);
  const ImageAxes a = image_axes(conv.layout);
  const Shape& x = graph.value(node.inputs[0]).shape;
  const Shape& w = graph.value(node.inputs[1]).shape;
  const Shape& y = graph.value(node.output()).shape;
  ConvShape s{};
  s.n = to_int(x[a.n]), s.h = to_int(x[a.h]), s.w = to_int(x[a.w]), s.c = to_int(x[a.c]);
  s.k = to_int(w[a.n]), s.r = to_int(w[a.h]), s.s = to_int(w[a.w]);
  s.p = to_int(y[a.h]), s.q = to_int(y[a.w]);
  s.stride_h = to_int(conv.strides[0]), s.stride_w = to_int(conv.strides[1]);
  s.pad_h = to_int(conv.pads_begin[0]), s.pad_w = to_int(conv.pads_begin[1]);
  s.dilation_h = to_int(conv.dilations[0]), s.dilation_w = to_int(conv.dilations[1]);
  s.groups = to_int(conv.groups);
  return s;
}

StemShape stem_shape(const Graph& graph, const Node& node) {
  const auto& stem = std::get<Stem>(node.op);
  const ImageAxes a = image_axes(stem.layout);
  const Shape& x = graph.value(node.inputs[0]).shape;
  const Shape& y = graph.value(node.output()).shape;
  const Shape& weight = graph.value(node.inputs[1]).shape;
  const auto conv_extent = [&](std::size_t axis, std::size_t d) {
    return static_cast<int>(window_count(x[axis], weight[d + 1], stem.strides[d], 1,
                                         stem.pads_begin[d], stem.pads_end[d]));
  };
  StemShape shape{};
  shape.n = static_cast<int>(x[a.n]), shape.c = static_cast<int>(x[a.c]);
  shape.h = static_cast<int>(x[a.h]), shape.w = static_cast<int>(x[a.w]);
  shape.conv_h = conv_extent(a.h, 0), shape.conv_w = conv_extent(a.w, 1);
  shape.pooled_h = static_cast<int>(y[1]), shape.pooled_w = static_cast<int>(y[2]);
  shape.planes = stem.layout == Layout::kNchw;
  shape.relu = stem.act.function == Function::kRelu;
  return shape;
}

PoolShape pool_shape(const Graph& graph, const Node& node) {
  const auto& pool = std::get<Pool>(node.op);
  const ImageAxes a = image_axes(pool.layout);
  const Shape& x = graph.value(node.inputs[0]).shape;
  const Shape& y = graph.value(node.output()).shape;
  PoolShape s{};
  s.n = to_int(x[a.n]), s.h = to_int(x[a.h]), s.w = to_int(x[a.w]), s.c = to_int(x[a.c]);
  s.p = to_int(y[a.h]), s.q = to_int(y[a.w]);
  s.kernel_h = to_int(pool.kernel[0]), s.kernel_w = to_int(pool.kernel[1]);
  s.stride_h = to_int(pool.strides[0]), s.stride_w = to_int(pool.strides[1]);
  s.pad_h = to_int(pool.pads_begin[0]), s.pad_w = to_int(pool.pads_begin[1]);
  s.pad_end_h = to_int(pool.pads_end[0]), s.pad_end_w = to_int(pool.pads_end[1]);
  return s;
}

Extents extents_of(const Shape& shape) {
  Extents extents;
  extents.rank = static_cast<int>(shape.rank());
  for (std::size_t i = 0; i < shape.rank(); ++i) extents.size[i] = shape[i];
  return extents;
}

Strides broadcast_strides(const Shape& shape, const Shape& output) {
  Strides strides;
  std::int64_t step = 1;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    if (shape[d] != 1) strides.step[d + output.rank() - shape.rank()] = step;
    step *= shape[d];
  }
  return strides;
}

}  // namespace proa::engine::cuda
