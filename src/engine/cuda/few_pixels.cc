// Convolutions of few pixels by our own kernel. A variant says what a block makes: "r7 of 32, split
// 8" is 7 rows of 32 channels from an eighth of the input channels.
#include <algorithm>
#include <utility>

#include "engine/cuda/kernels/kernels.h"
#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"
#include "engine/cuda/tiles.h"

namespace proa::engine::cuda {
namespace {

constexpr int kPixels[] = {32, 64};  // of a tile, about
constexpr int kSplits[] = {4, 8, 2, 1};
constexpr int kFewestChannels = 16;  // of a block's input

std::string to_string(const FewPixelsTile& tile) {
  return fmt::format("r{} of {}, split {}", tile.rows, tile.outputs, tile.splits);
}

Tiles<FewPixelsTile> tiles_for(const ConvShape& s, const DeviceLimits& limits) {
  Tiles<FewPixelsTile> tiles{to_string};
  const int outputs = s.k % 32 == 0 ? 32 : 16;
  int last_rows = 0;
  for (const int pixels : kPixels) {
    const int rows = std::clamp(pixels / s.q, 1, s.p);
    if (std::exchange(last_rows, rows) == rows) continue;
    for (const int splits : kSplits) {
      const FewPixelsTile tile{rows, outputs, splits};
      if (s.c / splits < kFewestChannels) continue;
      if (few_pixels_shared_bytes(s, tile) <= limits.shared_bytes) tiles.list.push_back(tile);
    }
  }
  return tiles;
}

class FewPixelsKernel final : public StepKernel {
 public:
  FewPixelsKernel(const Activation& act, const ConvShape& shape, const FewPixelsTile& tile,
                  const DeviceLimits& limits)
      : act_(act), shape_(shape), tile_(tile), limits_(limits) {}

  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    const auto input = [&](std::size_t i) {
      return i < arguments.inputs.size() ? arguments.inputs[i] : nullptr;
    };
    const FewPixelsWork work{input(0), input(1), static_cast<const float*>(input(2)),
                             input(3), act_,     arguments.output};
    PROA_CUDA(launch_few_pixels(work, shape_, tile_, limits_, stream));
    return {};
  }

 private:
  Activation act_;
  ConvShape shape_;
  FewPixelsTile tile_;
  DeviceLimits limits_;
};

Result<std::vector<std::string>> variants(const Graph& graph, const Node& node, Libraries&) {
  PROA_ASSIGN(const DeviceLimits limits, device_limits());
  return tiles_for(conv_shape(graph, node), limits).variants();
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  PROA_ASSIGN(const DeviceLimits limits, device_limits());
  const ConvShape shape = conv_shape(graph, node);
  PROA_ASSIGN(const FewPixelsTile tile, tiles_for(shape, limits).find(variant));
  return std::make_unique<FewPixelsKernel>(std::get<Conv>(node.op).act, shape, tile, limits);
}

}  // namespace

const KernelMaker kFewPixelsMaker = {Implementation::kFewPixels, variants, build};

}  // namespace proa::engine::cuda
