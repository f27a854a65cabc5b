#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/cuda/cudnn_descriptor.h"
#include "engine/graph/graph.h"

namespace proa::engine::cuda {

// The two forms of one fused convolution that reach different kernels of cuDNN 9: with the residual
// added before an FP16 bias it recognises its shipped kernels; with an FP32 bias added first it
// compiles a kernel of its own at load time. Neither is always faster (docs/engine.md).
// Source: cuDNN 9 developer guide, "Graph API", "Supported graph patterns".
enum class ConvForm : std::uint8_t { kPrecompiled, kRuntime };

// The ids under which a launch names its pointers.
enum ConvTensor : std::int64_t {
  kTensorX = 1,
  kTensorWeight,
  kTensorBias,
  kTensorResidual,
  kTensorY
};

// conv > bias and residual > activation as cuDNN's graph of operations over NHWC tensors, all FP16
// with FP32 in between or all FP32. Owns every descriptor it is made of.
class ConvGraph {
 public:
  // `node` is a Conv that the implementation list accepted. Errors: what cuDNN refuses.
  static Result<ConvGraph> make(const Graph& graph, const Node& node, ConvForm form,
                                cudnnHandle_t handle);
  const CudnnDescriptor& operations() const { return *operations_; }

 private:
  // Our [N,H,W,C] as cuDNN's [N,C,H,W] with strides.
  struct TensorShape {
    std::array<std::int64_t, 4> dims, strides;
  };
  using List = std::vector<std::unique_ptr<CudnnDescriptor>>;

  Status build(const Graph& graph, const Node& node, ConvForm form, cudnnHandle_t handle);
  Status add_conv(const Graph& graph, const Node& node, const Conv& conv);
  Status add(ConvTensor tensor, const TensorShape& shape, cudnnDataType_t type);
  Status add_relu(const Activation& act);
  Status add_pointwise(CudnnDescriptor what, const CudnnDescriptor* other);
  Result<CudnnDescriptor*> next_output();

  static TensorShape nhwc(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c);
  static TensorShape nhwc(const Shape& shape);
  static Result<CudnnDescriptor> make_tensor(std::int64_t id, const TensorShape& shape,
                                             cudnnDataType_t type);
  static CudnnDescriptor& keep(CudnnDescriptor descriptor, List& list);

  TensorShape output_{};
  cudnnDataType_t type_ = CUDNN_DATA_HALF;  // of x, weight, residual and y
  int left_ = 0;                            // operations still to come
  std::int64_t next_virtual_ = 0;
  CudnnDescriptor* current_ = nullptr;
  List parts_, steps_;
  std::unique_ptr<CudnnDescriptor> operations_;
};

}  // namespace proa::engine::cuda
