// Depthwise convolutions by our own kernels. A variant is the tile: "1x2 v8 c64" straight from
// memory, "2x4 v8 c32 in 16x16" through shared memory.
#include <algorithm>
#include <iterator>
#include <limits>

#include "engine/cuda/depthwise_work.h"
#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"
#include "engine/cuda/tiles.h"

namespace proa::engine::cuda {
namespace {

std::string to_string(const DepthwiseTile& tile) {
  std::string text = fmt::format("{}x{} v{} c{}", tile.rows, tile.columns, tile.vector, tile.chunk);
  if (tile.tile_h > 0) text += fmt::format(" in {}x{}", tile.tile_h, tile.tile_w);
  return text;
}

// Every tile that the kernels know; which one is fastest depends on the layer and the batch.
constexpr DepthwiseTile kTiles[] = {
    {2, 4, 4, 32},        {2, 4, 4, 64},        {1, 4, 8, 32},         {1, 4, 8, 48},
    {1, 4, 8, 64},        {1, 4, 4, 32},        {1, 4, 4, 64},         {2, 2, 8, 32},
    {2, 2, 8, 64},        {2, 2, 4, 32},        {2, 2, 4, 64},         {1, 2, 8, 32},
    {1, 2, 8, 64},        {1, 2, 2, 64},        {1, 1, 2, 32},         {1, 1, 2, 64},
    {1, 1, 4, 32},        {1, 1, 4, 64},        {1, 7, 8, 32, 14, 14}, {1, 7, 8, 48, 14, 14},
    {1, 7, 8, 64, 7, 14}, {1, 7, 8, 48, 7, 14}, {1, 7, 8, 32, 7, 14},  {1, 7, 8, 64, 7, 7},
    {1, 7, 8, 128, 7, 7}, {1, 7, 8, 32, 7, 28}, {2, 4, 8, 32, 16, 16}, {2, 4, 8, 32, 8, 16},
    {2, 4, 8, 48, 8, 16}, {2, 4, 8, 64, 8, 8},
};

bool fits(const DepthwiseShape& shape, const DepthwiseTile& tile) {
  if (tile.chunk - shape.c >= 32) return false;  // half the block and more would idle
  if (tile.tile_h == 0) return true;
  const int threads =
      tile.tile_h / tile.rows * (tile.tile_w / tile.columns) * (tile.chunk / tile.vector);
  return threads <= 256 && depthwise_shared_bytes(shape, tile) <= kDepthwiseShared;
}

Tiles<DepthwiseTile> tiles_for(const DepthwiseShape& shape) {
  Tiles<DepthwiseTile> tiles{to_string};
  std::ranges::copy_if(kTiles, std::back_inserter(tiles.list),
                       [&](const DepthwiseTile& tile) { return fits(shape, tile); });
  return tiles;
}

class DepthwiseKernel final : public StepKernel {
 public:
  DepthwiseKernel(const DepthwiseWork& work, const DepthwiseTile& tile)
      : work_(work), tile_(tile) {}

  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    PROA_CUDA(
        launch_depthwise(arguments.inputs[0], with_pointers(work_, arguments, 1), tile_, stream));
    return {};
  }

 private:
  DepthwiseWork work_;
  DepthwiseTile tile_;
};

Result<std::vector<std::string>> variants(const Graph& graph, const Node& node, Libraries&) {
  return tiles_for(depthwise_work(graph, node).shape).variants();
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  const DepthwiseWork work = depthwise_work(graph, node);
  PROA_ASSIGN(const DepthwiseTile tile, tiles_for(work.shape).find(variant));
  return std::make_unique<DepthwiseKernel>(work, tile);
}

}  // namespace

DepthwiseWork depthwise_work(const Graph& graph, const Node& node) {
  const auto& conv = std::get<Conv>(node.op);
  const ConvShape s = conv_shape(graph, node);
  DepthwiseWork work{};
  work.shape = {s.n, s.h, s.w, s.c, s.p, s.q, s.r, s.stride_h, s.pad_h, s.pad_w};
  work.input_max = conv.input_max > 0 ? conv.input_max : std::numeric_limits<float>::infinity();
  work.act = conv.act;
  return work;
}

DepthwiseWork with_pointers(DepthwiseWork work, const Arguments& arguments, std::size_t at) {
  work.weight = arguments.inputs[at];
  const bool has_bias = arguments.inputs.size() > at + 1;
  work.bias = has_bias ? static_cast<const float*>(arguments.inputs[at + 1]) : nullptr;
  work.y = arguments.output;
  return work;
}

const KernelMaker kDepthwiseMaker = {Implementation::kDepthwise, variants, build};

}  // namespace proa::engine::cuda
