// The beginning of a depthwise network by one kernel of our own: pack, 3x3 convolution by 2,
// depthwise convolution. A variant is the tile and the threads: "1x7 in 14x14 t256".
#include <algorithm>
#include <iterator>

#include "engine/cuda/depthwise_work.h"
#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"
#include "engine/cuda/tiles.h"

namespace proa::engine::cuda {
namespace {

constexpr BlockTile kTiles[] = {
    {1, 7, 14, 14, 128}, {1, 7, 14, 14, 256}, {1, 7, 14, 28, 256}, {1, 7, 7, 28, 128},
    {1, 7, 7, 28, 256},  {1, 7, 7, 14, 128},  {1, 7, 7, 14, 256},  {1, 7, 7, 7, 128},
    {1, 7, 4, 28, 128},  {1, 4, 8, 8, 128},   {1, 4, 8, 8, 256},   {1, 4, 8, 16, 256},
    {1, 4, 8, 16, 128},  {1, 1, 8, 8, 256},
};

std::string to_string(const BlockTile& tile) {
  return fmt::format("{}x{} in {}x{} t{}", tile.rows, tile.columns, tile.tile_h, tile.tile_w,
                     tile.threads);
}

Tiles<BlockTile> tiles_for(const DepthwiseShape& shape) {
  Tiles<BlockTile> tiles{to_string};
  std::ranges::copy_if(kTiles, std::back_inserter(tiles.list), [&](const BlockTile& tile) {
    return picture_depthwise_shared_bytes(shape, tile) <= kPictureShared;
  });
  return tiles;
}

// The first two of the three nodes; the pointers are still missing.
PictureConv picture_conv(const Graph& graph, const Node& pack, const Node& conv) {
  const Layout layout = std::get<Pack>(pack.op).layout;
  const ImageAxes a = image_axes(layout);
  const Value& x = graph.value(pack.inputs[0]);
  const ConvShape s = conv_shape(graph, conv);
  PictureConv made{};
  made.x.type = number_of(x.type);
  made.h = s.h, made.w = s.w, made.c = static_cast<int>(x.shape[a.c]);
  made.planes = layout == Layout::kNchw;
  made.pad_h = s.pad_h, made.pad_w = s.pad_w;
  made.act = std::get<Conv>(conv.op).act;
  return made;
}

class PictureDepthwiseKernel final : public StepKernel {
 public:
  PictureDepthwiseKernel(const PictureConv& conv, const DepthwiseWork& work, const BlockTile& tile,
                         int multiprocessors)
      : conv_(conv), work_(work), tile_(tile), multiprocessors_(multiprocessors) {}

  // Inputs: picture, scale, shift; weight, bias, no residual; then those of the depthwise one.
  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    PictureConv conv = conv_;
    conv.x.data = arguments.inputs[0];
    conv.scale = static_cast<const float*>(arguments.inputs[1]);
    conv.shift = static_cast<const float*>(arguments.inputs[2]);
    conv.weight = arguments.inputs[3];
    conv.bias = static_cast<const float*>(arguments.inputs[4]);
    PROA_CUDA(launch_picture_depthwise(conv, with_pointers(work_, arguments, 6), tile_,
                                       multiprocessors_, stream));
    return {};
  }

 private:
  PictureConv conv_;
  DepthwiseWork work_;
  BlockTile tile_;
  int multiprocessors_;
};

Result<std::vector<std::string>> variants(const Graph& graph, const Node& node, Libraries&) {
  return tiles_for(depthwise_work(graph, *parts_of(graph, node, 3)[2]).shape).variants();
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  const std::vector<const Node*> parts = parts_of(graph, node, 3);
  const DepthwiseWork work = depthwise_work(graph, *parts[2]);
  PROA_ASSIGN(const BlockTile tile, tiles_for(work.shape).find(variant));
  PROA_ASSIGN(const DeviceLimits limits, device_limits());
  return std::make_unique<PictureDepthwiseKernel>(picture_conv(graph, *parts[0], *parts[1]), work,
                                                  tile, limits.multiprocessors);
}

}  // namespace

const KernelMaker kPictureDepthwiseMaker = {Implementation::kPictureDepthwise, variants, build};

}  // namespace proa::engine::cuda
