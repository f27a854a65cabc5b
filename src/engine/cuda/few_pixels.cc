// Convolutions of few pixels by our own kernel. A variant says what a block makes: "r7 of 32, split
// 8" is 7 rows of 32 channels from an eighth of the input channels.
#include <algorithm>

#include "engine/cuda/kernels/kernels.h"
#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {
namespace {

constexpr std::size_t kMostVariants = 40;  // to be timed
constexpr int kPixels[] = {32, 64, 128};   // of a tile, about
constexpr int kOutputs[] = {16, 32, 64}, kSplits[] = {1, 2, 4, 8};
constexpr int kFewestChannels = 16;  // of a block's input

std::string to_string(const FewPixelsTile& tile) {
  return fmt::format("r{} of {}, split {}", tile.rows, tile.outputs, tile.splits);
}

int divided(int a, int b) { return (a + b - 1) / b; }

// Clocks, roughly: to start, to bring what a multiprocessor's blocks read, to multiply it.
double guess(const ConvShape& s, const FewPixelsTile& tile, const DeviceLimits& limits) {
  constexpr double kStart = 1500, kWave = 1000, kBytes = 48, kProducts = 2048 / 2.0;
  const std::size_t bytes = few_pixels_shared_bytes(s, tile);
  const int blocks = s.n * divided(s.p, tile.rows) * (s.k / tile.outputs) * tile.splits;
  const int together = static_cast<int>(limits.shared_bytes / bytes);
  const int each = divided(blocks, limits.multiprocessors);
  const double products = static_cast<double>(divided(tile.rows * s.q, 32)) * 32 * tile.outputs *
                          s.r * s.s * (s.c / tile.splits);
  return kStart + divided(each, together) * kWave +
         each * (static_cast<double>(bytes) / kBytes + products / kProducts);
}

// Those that fit, best guess first.
std::vector<FewPixelsTile> tiles_for(const ConvShape& s, const DeviceLimits& limits) {
  std::vector<FewPixelsTile> list;
  int last_rows = 0;
  for (const int pixels : kPixels) {
    const int rows = std::clamp(pixels / s.q, 1, s.p);
    if (rows == last_rows) continue;
    last_rows = rows;
    for (const int outputs : kOutputs) {
      for (const int splits : kSplits) {
        const FewPixelsTile tile{rows, outputs, splits};
        if (s.k % outputs != 0 || s.c / splits < kFewestChannels) continue;
        if (few_pixels_shared_bytes(s, tile) <= limits.shared_bytes) list.push_back(tile);
      }
    }
  }
  std::ranges::stable_sort(list, {},
                           [&](const FewPixelsTile& tile) { return guess(s, tile, limits); });
  if (list.size() > kMostVariants) list.resize(kMostVariants);
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
