#include "backends/cuda/testing/export.h"

#include <algorithm>

#include "backends/openvino/convert.h"
#include "engine/graph/infer.h"
#include "openvino/op/ops.hpp"
#include "openvino/openvino.hpp"

namespace proa::backends::cuda {
namespace {

using engine::Dims;
using engine::Function;
using engine::Layout;
using NodePtr = std::shared_ptr<ov::Node>;
using OutputOf = ov::Output<ov::Node>;
namespace op = ov::op;

OutputOf constant(const Dims& numbers) {
  return op::v0::Constant::create(ov::element::i64, {numbers.size()}, numbers);
}
OutputOf scalar(float number) { return op::v0::Constant::create(ov::element::f32, {}, {number}); }
OutputOf transpose(const OutputOf& x, const Dims& order) {
  return std::make_shared<op::v1::Transpose>(x, constant(order));
}
OutputOf reshape(const OutputOf& x, const Dims& dims) {
  return std::make_shared<op::v1::Reshape>(x, constant(dims), false);
}
OutputOf to_planes(const OutputOf& x, Layout layout) {
  return layout == Layout::kNchw ? x : transpose(x, {0, 3, 1, 2});
}
OutputOf from_planes(const OutputOf& x, Layout layout) {
  return layout == Layout::kNchw ? x : transpose(x, {0, 2, 3, 1});
}

OutputOf activate(const engine::Activation& act, const OutputOf& x) {
  switch (act.function) {
    case Function::kIdentity:
      return x;
    case Function::kRelu:
      return std::make_shared<op::v0::Relu>(x);
    case Function::kClamp:
      return std::make_shared<op::v0::Clamp>(x, act.low, act.high);
    case Function::kSigmoid:
      return std::make_shared<op::v0::Sigmoid>(x);
    case Function::kTanh:
      return std::make_shared<op::v0::Tanh>(x);
    case Function::kExp:
      return std::make_shared<op::v0::Exp>(x);
    case Function::kSqrt:
      return std::make_shared<op::v0::Sqrt>(x);
    case Function::kAbs:
      return std::make_shared<op::v0::Abs>(x);
    case Function::kNegative:
      return std::make_shared<op::v0::Negative>(x);
    case Function::kSwish:
      return std::make_shared<op::v4::Swish>(x);
    case Function::kHardSwish:
      return std::make_shared<op::v4::HSwish>(x);
  }
  return x;
}

// One overload per operator; inputs are FP32, absent ones have no node.
struct Exporter {
  std::vector<OutputOf> in;
  const Shape& out;

  bool has(std::size_t i) const { return i < in.size() && in[i].get_node() != nullptr; }
  OutputOf finish(OutputOf y, const engine::Activation& act) const {
    if (has(2)) y = std::make_shared<op::v1::Add>(y, in[2]);
    if (has(3)) y = std::make_shared<op::v1::Add>(y, in[3]);
    return activate(act, y);
  }

  // x as an operator with `input_max` reads it.
  OutputOf bounded(float input_max) const {
    if (input_max <= 0) return in[0];
    const auto most = op::v0::Constant::create(ov::element::f32, {}, {input_max});
    return std::make_shared<op::v1::Minimum>(in[0], most);
  }

  OutputOf operator()(const engine::Conv& c) const {
    const OutputOf x = to_planes(bounded(c.input_max), c.layout);
    OutputOf weight = to_planes(in[1], c.layout);
    const ov::Strides strides(c.strides.begin(), c.strides.end());
    const ov::Strides dilations(c.dilations.begin(), c.dilations.end());
    const ov::CoordinateDiff begin(c.pads_begin.begin(), c.pads_begin.end());
    const ov::CoordinateDiff end(c.pads_end.begin(), c.pads_end.end());
    OutputOf y;
    if (c.groups == 1) {
      y = std::make_shared<op::v1::Convolution>(x, weight, strides, begin, end, dilations);
    } else {
      const ov::Shape shape = weight.get_shape();
      Dims grouped(shape.begin(), shape.end());
      grouped[0] /= c.groups;
      grouped.insert(grouped.begin(), c.groups);
      weight = reshape(weight, grouped);
      y = std::make_shared<op::v1::GroupConvolution>(x, weight, strides, begin, end, dilations);
    }
    y = from_planes(y, c.layout);
    if (c.layout == Layout::kNhwc || !has(2)) return finish(y, c.act);
    Exporter planes = *this;
    planes.in[2] = reshape(in[2], {-1, 1, 1});
    return planes.finish(y, c.act);
  }
  OutputOf operator()(const engine::MatMul& m) const {
    return finish(std::make_shared<op::v0::MatMul>(in[0], in[1], m.transpose_a, m.transpose_b),
                  m.act);
  }
  OutputOf operator()(const engine::Binary& b) const {
    using Kind = engine::BinaryKind;
    NodePtr y;
    switch (b.kind) {
      case Kind::kAdd:
        y = std::make_shared<op::v1::Add>(in[0], in[1]);
        break;
      case Kind::kSubtract:
        y = std::make_shared<op::v1::Subtract>(in[0], in[1]);
        break;
      case Kind::kMultiply:
        y = std::make_shared<op::v1::Multiply>(in[0], in[1]);
        break;
      case Kind::kDivide:
        y = std::make_shared<op::v1::Divide>(in[0], in[1]);
        break;
      case Kind::kMaximum:
        y = std::make_shared<op::v1::Maximum>(in[0], in[1]);
        break;
      case Kind::kMinimum:
        y = std::make_shared<op::v1::Minimum>(in[0], in[1]);
        break;
    }
    return activate(b.act, y);
  }
  OutputOf operator()(const engine::Unary& u) const { return activate(u.act, in[0]); }
  OutputOf operator()(const engine::Pool& p) const {
    const OutputOf x = to_planes(in[0], p.layout);
    const ov::Strides strides(p.strides.begin(), p.strides.end());
    const ov::Shape begin(p.pads_begin.begin(), p.pads_begin.end());
    const ov::Shape end(p.pads_end.begin(), p.pads_end.end());
    const ov::Shape kernel(p.kernel.begin(), p.kernel.end());
    if (p.kind == engine::PoolKind::kMax) {
      return from_planes(std::make_shared<op::v1::MaxPool>(x, strides, begin, end, kernel),
                         p.layout);
    }
    return from_planes(std::make_shared<op::v1::AvgPool>(x, strides, begin, end, kernel,
                                                         !p.count_padding, op::RoundingType::FLOOR),
                       p.layout);
  }
  OutputOf operator()(const engine::Reduce& r) const {
    const OutputOf axes = constant(r.axes);
    if (r.kind == engine::ReduceKind::kMean) {
      return std::make_shared<op::v1::ReduceMean>(bounded(r.input_max), axes, r.keep_dims);
    }
    if (r.kind == engine::ReduceKind::kSum) {
      return std::make_shared<op::v1::ReduceSum>(in[0], axes, r.keep_dims);
    }
    return std::make_shared<op::v1::ReduceMax>(in[0], axes, r.keep_dims);
  }
  OutputOf operator()(const engine::Reshape& r) const { return reshape(in[0], r.dims); }
  OutputOf operator()(const engine::Transpose& t) const { return transpose(in[0], t.order); }
  OutputOf operator()(const engine::Softmax& s) const {
    return std::make_shared<op::v8::Softmax>(in[0], s.axis);
  }
  OutputOf operator()(const engine::Convert& c) const {
    if (c.type == DataType::kFp32 || c.type == DataType::kFp16) return in[0];
    const auto cut = std::make_shared<op::v0::Convert>(in[0], openvino::to_ov_type(c.type));
    return std::make_shared<op::v0::Convert>(cut, ov::element::f32);
  }
  OutputOf operator()(const engine::Concat& c) const {
    return std::make_shared<op::v0::Concat>(ov::OutputVector(in.begin(), in.end()), c.axis);
  }
  OutputOf operator()(const engine::BatchNorm& b) const {
    return from_planes(std::make_shared<op::v5::BatchNormInference>(
                           to_planes(in[0], b.layout), in[1], in[2], in[3], in[4], b.epsilon),
                       b.layout);
  }
  OutputOf operator()(const engine::Lrn& l) const {
    return from_planes(
        std::make_shared<op::v0::LRN>(to_planes(in[0], l.layout), constant({1}), l.alpha, l.beta,
                                      l.bias, static_cast<std::size_t>(l.size)),
        l.layout);
  }
  OutputOf operator()(const engine::Pad& p) const {
    return std::make_shared<op::v1::Pad>(in[0], constant(p.begin), constant(p.end), scalar(p.value),
                                         op::PadMode::CONSTANT);
  }
  OutputOf operator()(const engine::Pack& p) const {
    OutputOf x = from_planes(in[0], p.layout == Layout::kNchw ? Layout::kNhwc : Layout::kNchw);
    const auto channels = static_cast<std::int64_t>(x.get_shape()[3]);
    if (has(1)) x = std::make_shared<op::v1::Multiply>(x, in[1]);
    if (has(2)) x = std::make_shared<op::v1::Add>(x, in[2]);
    return std::make_shared<op::v1::Pad>(x, constant({0, 0, 0, 0}),
                                         constant({0, 0, 0, p.channels - channels}), scalar(0),
                                         op::PadMode::CONSTANT);
  }
  OutputOf operator()(const engine::Stem& s) const {
    Exporter pack{{in[0]}, out};
    pack.in.insert(pack.in.end(), in.begin() + 3, in.end());
    const auto channels = static_cast<std::int64_t>(in[1].get_shape()[3]);
    Exporter conv{{pack(s.pack(channels, DataType::kFp16)), in[1], in[2]}, out};
    Exporter pool{{conv(s.conv())}, out};
    return pool(s.pool());
  }
};

ov::Shape ov_shape(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

std::shared_ptr<ov::Model> export_graph(const engine::Graph& graph) {
  std::vector<OutputOf> values(graph.values.size());
  ov::ParameterVector parameters;
  for (engine::ValueId id : graph.inputs) {
    parameters.push_back(
        std::make_shared<op::v0::Parameter>(ov::element::f32, ov_shape(graph.value(id).shape)));
    values[static_cast<std::size_t>(id)] = parameters.back();
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const engine::Value& value = graph.values[i];
    if (!value.constant) continue;
    values[i] = op::v0::Constant::create(ov::element::f32, ov_shape(value.shape),
                                         engine::constant_floats(value));
  }
  for (const engine::Node& node : graph.nodes) {
    Exporter exporter{{}, graph.value(node.output()).shape};
    for (engine::ValueId id : node.inputs) {
      exporter.in.push_back(id == engine::kNoValue ? OutputOf()
                                                   : values[static_cast<std::size_t>(id)]);
    }
    values[static_cast<std::size_t>(node.output())] = std::visit(exporter, node.op);
  }
  ov::OutputVector results;
  for (engine::ValueId id : graph.outputs) results.push_back(values[static_cast<std::size_t>(id)]);
  return std::make_shared<ov::Model>(results, parameters);
}

std::vector<engine::HostTensor> run_openvino(const std::shared_ptr<ov::Model>& model,
                                             const std::vector<engine::HostTensor>& inputs) {
  // TBB's binding library cannot be loaded under sanitizers.
  setenv("TBB_ENABLE_SANITIZERS", "1", 0);
  static ov::Core core;
  ov::CompiledModel compiled = core.compile_model(
      model, "CPU", ov::hint::inference_precision(ov::element::f32), ov::num_streams(1),
      ov::inference_num_threads(2), ov::hint::enable_cpu_pinning(false));
  ov::InferRequest request = compiled.create_infer_request();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ov::Tensor tensor(compiled.input(i).get_element_type(), ov_shape(inputs[i].shape));
    if (tensor.get_element_type() == ov::element::u8) {
      std::ranges::transform(inputs[i].data, tensor.data<std::uint8_t>(),
                             [](float x) { return static_cast<std::uint8_t>(x); });
    } else if (tensor.get_element_type() == ov::element::f16) {
      std::ranges::copy(inputs[i].data, tensor.data<ov::float16>());
    } else {
      std::ranges::copy(inputs[i].data, tensor.data<float>());
    }
    request.set_input_tensor(i, tensor);
  }
  request.infer();
  std::vector<engine::HostTensor> outputs;
  for (std::size_t i = 0; i < compiled.outputs().size(); ++i) {
    const ov::Tensor tensor = request.get_output_tensor(i);
    const auto* data = tensor.data<const float>();
    const ov::Shape shape = tensor.get_shape();
    outputs.push_back({Shape(std::span<const std::int64_t>(Dims(shape.begin(), shape.end()))),
                       {data, data + tensor.get_size()}});
  }
  return outputs;
}

}  // namespace proa::backends::cuda
