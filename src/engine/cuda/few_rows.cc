// Matrix products of a few rows by our own kernel, with or without a convert to FP32 behind them. A
// variant is the threads of a block: "t128".
#include <algorithm>
#include <array>

#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"t128", "t256"};
constexpr std::array<int, 2> kBlocks = {128, 256};

class FewRowsKernel final : public StepKernel {
 public:
  FewRowsKernel(const Activation& act, Number y_type, int rows, int columns, int inner, int block)
      : act_(act), y_type_(y_type), rows_(rows), columns_(columns), inner_(inner), block_(block) {}

  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    const void* bias = arguments.inputs.size() > 2 ? arguments.inputs[2] : nullptr;
    PROA_CUDA(launch_few_rows(arguments.inputs[0], arguments.inputs[1],
                              static_cast<const float*>(bias), act_, arguments.output, y_type_,
                              rows_, columns_, inner_, block_, stream));
    return {};
  }

 private:
  Activation act_;
  Number y_type_;
  int rows_, columns_, inner_, block_;
};

Result<std::vector<std::string>> variants(const Graph&, const Node&, Libraries&) {
  return std::vector<std::string>(kNames.begin(), kNames.end());
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  const auto found = std::ranges::find(kNames, variant);
  if (found == kNames.end()) return error::invalid_argument("'{}' is no block", variant);
  const Node* last = parts_of(graph, node, 1)[0];
  const bool fused = std::holds_alternative<Convert>(last->op);
  const Node& product = fused ? *parts_of(graph, node, 2)[0] : *last;
  const Value& y = graph.value(product.output());
  const Shape& weight = graph.value(product.inputs[1]).shape;
  const auto columns = static_cast<int>(weight[0]), inner = static_cast<int>(weight[1]);
  return std::make_unique<FewRowsKernel>(std::get<MatMul>(product.op).act,
                                         number_of(graph.value(node.output()).type),
                                         static_cast<int>(y.elements() / columns), columns, inner,
                                         kBlocks[static_cast<std::size_t>(found - kNames.begin())]);
}

}  // namespace

const KernelMaker kFewRowsMaker = {Implementation::kFewRows, variants, build};

}  // namespace proa::engine::cuda
