// Convolutions through cuDNN's graph interface in both forms. A variant is an EngineChoice.
#include <algorithm>

#include "engine/cuda/cudnn_conv_graph.h"
#include "engine/cuda/cudnn_engine.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {
namespace {

class CudnnConv final : public StepKernel {
 public:
  CudnnConv(ConvGraph graph, CudnnDescriptor plan, std::size_t workspace, DataType bias_type)
      : graph_(std::move(graph)),
        plan_(std::move(plan)),
        workspace_(workspace),
        bias_type_(bias_type) {}

  std::size_t workspace_bytes() const override { return workspace_; }

  DataType constant_type(std::size_t i, DataType natural) const override {
    return i == 2 ? bias_type_ : natural;
  }

  Status launch(const Arguments& arguments, Libraries& libraries, cudaStream_t stream) override {
    constexpr std::int64_t kIds[] = {kTensorX, kTensorWeight, kTensorBias, kTensorResidual};
    std::vector<std::int64_t> ids;
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
      if (arguments.inputs[i] == nullptr) continue;
      ids.push_back(kIds[i]);
      pointers.push_back(const_cast<void*>(arguments.inputs[i]));
    }
    ids.push_back(kTensorY);
    pointers.push_back(arguments.output);
    CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids)
        .set_raw(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                 static_cast<std::int64_t>(pointers.size()), pointers.data())
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, arguments.workspace);
    PROA_TRY(pack.finalize("variant pack"));
    PROA_CUDNN(cudnnSetStream(libraries.cudnn(), stream));
    PROA_CUDNN(cudnnBackendExecute(libraries.cudnn(), plan_.get(), pack.get()));
    return {};
  }

 private:
  ConvGraph graph_;
  CudnnDescriptor plan_;
  std::size_t workspace_;
  DataType bias_type_;
};

Result<std::unique_ptr<StepKernel>> build_conv(const Graph& graph, const Node& node,
                                               std::string_view variant, ConvForm form,
                                               Libraries& libraries) {
  PROA_ASSIGN(const EngineChoice choice, EngineChoice::parse(variant));
  PROA_ASSIGN(ConvGraph conv, ConvGraph::make(graph, node, form, libraries.cudnn()));
  PROA_ASSIGN(CudnnDescriptor plan, build_plan(conv.operations(), choice, libraries.cudnn()));
  PROA_ASSIGN(const std::int64_t workspace,
              plan.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64));
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(workspace, 0));
  if (bytes > kMostWorkspaceBytes) {
    return error::resource_exhausted("cuDNN variant {} wants {} bytes of workspace", variant,
                                     bytes);
  }
  const DataType own = graph.value(node.output()).type;
  return std::make_unique<CudnnConv>(std::move(conv), std::move(plan), bytes,
                                     form == ConvForm::kPrecompiled ? own : DataType::kFp32);
}

template <ConvForm form>
Result<std::vector<std::string>> variants_of(const Graph& graph, const Node& node,
                                             Libraries& libraries) {
  PROA_ASSIGN(const ConvGraph conv, ConvGraph::make(graph, node, form, libraries.cudnn()));
  const bool strict =
      graph.value(node.output()).type == DataType::kFp32 && !std::get<Conv>(node.op).tf32;
  PROA_ASSIGN(const std::vector<EngineChoice> engines, list_engines(conv.operations(), strict));
  std::vector<std::string> variants;
  for (const EngineChoice& engine : engines) variants.push_back(engine.to_string());
  return variants;
}
template <ConvForm form>
Result<std::unique_ptr<StepKernel>> build_of(const Graph& graph, const Node& node,
                                             std::string_view variant, Libraries& libraries) {
  return build_conv(graph, node, variant, form, libraries);
}

}  // namespace

const KernelMaker kCudnnPrecompiledMaker = {Implementation::kCudnnPrecompiled,
                                            variants_of<ConvForm::kPrecompiled>,
                                            build_of<ConvForm::kPrecompiled>};
const KernelMaker kCudnnRuntimeMaker = {
    Implementation::kCudnnRuntime, variants_of<ConvForm::kRuntime>, build_of<ConvForm::kRuntime>};

}  // namespace proa::engine::cuda
