// The fused beginning of a picture network. A variant is the tile that a block makes, pooled
// rows x columns: "7x28".
#include <algorithm>
#include <array>

#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {
namespace {

// In the order of StemTile.
constexpr std::array<std::string_view, kStemTiles> kNames = {"1x14", "4x14", "4x28", "7x28",
                                                             "7x56"};

class StemKernel final : public StepKernel {
 public:
  StemKernel(const StemShape& shape, Number type, StemTile tile, int multiprocessors)
      : shape_(shape), type_(type), tile_(tile), multiprocessors_(multiprocessors) {}

  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    const auto floats = [&](std::size_t i) {
      return i < arguments.inputs.size() ? static_cast<const float*>(arguments.inputs[i]) : nullptr;
    };
    PROA_CUDA(launch_stem({arguments.inputs[0], type_}, arguments.inputs[1], floats(2), floats(3),
                          floats(4), arguments.output, shape_, tile_, multiprocessors_, stream));
    return {};
  }

 private:
  StemShape shape_;
  Number type_;
  StemTile tile_;
  int multiprocessors_;
};

// Best guess first: a small tile keeps all multiprocessors busy where there are few pictures, a
// large one reads fewer rows twice.
Result<std::vector<std::string>> variants(const Graph& graph, const Node& node, Libraries&) {
  constexpr std::int64_t kFewPictures = 8;
  std::vector<std::string> list(kNames.begin(), kNames.end());
  if (graph.value(node.output()).shape[0] > kFewPictures) std::ranges::reverse(list);
  return list;
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  const auto found = std::ranges::find(kNames, variant);
  if (found == kNames.end()) return error::invalid_argument("'{}' is no stem tile", variant);
  PROA_ASSIGN(const DeviceLimits limits, device_limits());
  return std::make_unique<StemKernel>(
      stem_shape(graph, node), number_of(graph.value(node.inputs[0]).type),
      static_cast<StemTile>(found - kNames.begin()), limits.multiprocessors);
}

}  // namespace

const KernelMaker kStemMaker = {Implementation::kStem, variants, build};

}  // namespace proa::engine::cuda
