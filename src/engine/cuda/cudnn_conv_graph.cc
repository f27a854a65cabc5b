#include "engine/cuda/cudnn_conv_graph.h"

namespace proa::engine::cuda {
namespace {

constexpr std::int64_t kFirstVirtual = 100;  // ids of tensors that exist only inside a kernel

CudnnDescriptor pointwise(cudnnPointwiseMode_t mode) {
  CudnnDescriptor what(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  what.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  return what;
}

}  // namespace

Result<ConvGraph> ConvGraph::make(const Graph& graph, const Node& node, ConvForm form,
                                  cudnnHandle_t handle) {
  ConvGraph made;
  made.next_virtual_ = kFirstVirtual;
  PROA_TRY(made.build(graph, node, form, handle));
  return made;
}

ConvGraph::TensorShape ConvGraph::nhwc(std::int64_t n, std::int64_t h, std::int64_t w,
                                       std::int64_t c) {
  return {{n, c, h, w}, {h * w * c, 1, w * c, c}};
}

ConvGraph::TensorShape ConvGraph::nhwc(const Shape& shape) {
  return nhwc(shape[0], shape[1], shape[2], shape[3]);
}

Result<CudnnDescriptor> ConvGraph::make_tensor(std::int64_t id, const TensorShape& shape,
                                               cudnnDataType_t type) {
  CudnnDescriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16})
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, shape.dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, shape.strides);
  if (id >= kFirstVirtual) tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true);
  PROA_TRY(tensor.finalize("tensor"));
  return tensor;
}

Status ConvGraph::build(const Graph& graph, const Node& node, ConvForm form, cudnnHandle_t handle) {
  const auto& conv = std::get<Conv>(node.op);
  output_ = nhwc(graph.value(node.output()).shape);
  const bool half = graph.value(node.output()).type == DataType::kFp16;
  type_ = half ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
  const bool bias = node.input(2) != kNoValue, residual = node.input(3) != kNoValue;
  const bool relu = conv.act.function != Function::kIdentity;
  left_ = 1 + static_cast<int>(bias) + static_cast<int>(residual) + static_cast<int>(relu);
  PROA_TRY(add_conv(graph, node, conv));
  const cudnnDataType_t bias_type = form == ConvForm::kPrecompiled ? type_ : CUDNN_DATA_FLOAT;
  const TensorShape vector = nhwc(1, 1, 1, output_.dims[1]);
  if (residual && form == ConvForm::kPrecompiled) PROA_TRY(add(kTensorResidual, output_, type_));
  if (bias) PROA_TRY(add(kTensorBias, vector, bias_type));
  if (residual && form == ConvForm::kRuntime) PROA_TRY(add(kTensorResidual, output_, type_));
  if (relu) PROA_TRY(add_relu(conv.act));
  std::vector<const CudnnDescriptor*> list;
  for (const auto& each : steps_) list.push_back(each.get());
  operations_ = std::make_unique<CudnnDescriptor>(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  operations_->set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, list);
  return operations_->finalize("operation graph");
}

CudnnDescriptor& ConvGraph::keep(CudnnDescriptor descriptor, List& list) {
  return *list.emplace_back(std::make_unique<CudnnDescriptor>(std::move(descriptor)));
}

// The tensor that the next operation writes: the result if it is the last one, else virtual.
Result<CudnnDescriptor*> ConvGraph::next_output() {
  const bool last = --left_ == 0;
  const std::int64_t id = last ? std::int64_t{kTensorY} : next_virtual_++;
  PROA_ASSIGN(CudnnDescriptor tensor, make_tensor(id, output_, last ? type_ : CUDNN_DATA_FLOAT));
  return &keep(std::move(tensor), parts_);
}

Status ConvGraph::add_conv(const Graph& graph, const Node& node, const Conv& conv) {
  PROA_ASSIGN(CudnnDescriptor x,
              make_tensor(kTensorX, nhwc(graph.value(node.inputs[0]).shape), type_));
  PROA_ASSIGN(CudnnDescriptor w,
              make_tensor(kTensorWeight, nhwc(graph.value(node.inputs[1]).shape), type_));
  PROA_ASSIGN(current_, next_output());
  CudnnDescriptor what(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  what.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, conv.pads_begin)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, conv.pads_end)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, conv.dilations)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, conv.strides);
  PROA_TRY(what.finalize("convolution"));
  CudnnDescriptor step(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  step.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, keep(std::move(what), parts_))
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, keep(std::move(x), parts_))
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, keep(std::move(w), parts_))
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, *current_)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0f)
      .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0f);
  PROA_TRY(step.finalize("convolution step"));
  keep(std::move(step), steps_);
  return {};
}

Status ConvGraph::add_pointwise(CudnnDescriptor what, const CudnnDescriptor* other) {
  PROA_TRY(what.finalize("pointwise"));
  PROA_ASSIGN(CudnnDescriptor * output, next_output());
  CudnnDescriptor step(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  step.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, keep(std::move(what), parts_))
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *current_);
  if (other != nullptr) step.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
  step.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *output);
  PROA_TRY(step.finalize("pointwise step"));
  keep(std::move(step), steps_);
  current_ = output;
  return {};
}

Status ConvGraph::add(ConvTensor id, const TensorShape& shape, cudnnDataType_t type) {
  PROA_ASSIGN(CudnnDescriptor tensor, make_tensor(id, shape, type));
  return add_pointwise(pointwise(CUDNN_POINTWISE_ADD), &keep(std::move(tensor), parts_));
}

Status ConvGraph::add_relu(const Activation& act) {
  CudnnDescriptor what = pointwise(CUDNN_POINTWISE_RELU_FWD);
  if (act.function == Function::kClamp) {
    what.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_DOUBLE,
             static_cast<double>(act.high));
  }
  return add_pointwise(std::move(what), nullptr);
}

}  // namespace proa::engine::cuda
