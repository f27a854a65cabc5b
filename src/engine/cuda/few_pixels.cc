// Convolutions of few pixels by our own kernel. A variant says what a block makes: "r7 of 32, split
// 8" is 7 rows of 32 channels from an eighth of the input channels.
#include <algorithm>

#include "engine/cuda/kernels/kernels.h"
#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {
namespace {

constexpr int kPixels[] = {32, 64};  // of a tile, about
constexpr int kSplits[] = {1, 2, 4, 8};
constexpr int kFewestChannels = 16;  // of a block's input

std::string to_string(const FewPixelsTile& tile) {
  return fmt::format("r{} of {}, split {}", tile.rows, tile.outputs, tile.splits);
}

// Those that fit.
std::vector<FewPixelsTile> tiles_for(const ConvShape& s, const DeviceLimits& limits) {
  std::vector<FewPixelsTile> list;
  const int outputs = s.k % 32 == 0 ? 32 : 16;
  for (const int pixels : kPixels) {
    const int rows = std::clamp(pixels / s.q, 1, s.p);
    if (std::ranges::find(list, rows, &FewPixelsTile::rows) != list.end()) continue;
    for (const int splits : kSplits) {
      const FewPixelsTile tile{rows, outputs, splits};
      if (s.c / splits < kFewestChannels) break;
      if (few_pixels_shared_bytes(s, tile) <= limits.shared_bytes) list.push_back(tile);
    }
  }
  return list;
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
  std::vector<std::string> list;
  for (const FewPixelsTile& tile : tiles_for(conv_shape(graph, node), limits)) {
    list.push_back(to_string(tile));
  }
  return list;
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  PROA_ASSIGN(const DeviceLimits limits, device_limits());
  const ConvShape shape = conv_shape(graph, node);
  const std::vector<FewPixelsTile> tiles = tiles_for(shape, limits);
  const auto found = std::ranges::find(tiles, variant, to_string);
  if (found == tiles.end()) return error::invalid_argument("'{}' is no tile for it", variant);
  return std::make_unique<FewPixelsKernel>(std::get<Conv>(node.op).act, shape, *found, limits);
}

}  // namespace

const KernelMaker kFewPixelsMaker = {Implementation::kFewPixels, variants, build};

}  // namespace proa::engine::cuda
