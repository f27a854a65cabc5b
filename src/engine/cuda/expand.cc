// A 1x1 convolution and the depthwise one behind it by one kernel of our own. A variant is the
// tile, the threads and how many groups of 32 channels a block makes: "1x7 in 14x14 t128 by 3".
#include "engine/cuda/depthwise_work.h"
#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"
#include "engine/cuda/tiles.h"

namespace proa::engine::cuda {
namespace {

std::string to_string(const ExpandTile& tile) {
  return fmt::format("{}x{} in {}x{} t{} by {}", tile.rows, tile.columns, tile.tile_h, tile.tile_w,
                     tile.threads, tile.groups);
}

// Tiles that divide the pictures of usual networks (multiples of 7) and those of others.
constexpr ExpandTile kTiles[] = {
    {1, 7, 14, 14, 128}, {1, 7, 14, 14, 256}, {1, 7, 14, 28, 256}, {1, 7, 7, 28, 256},
    {1, 7, 7, 56, 128},  {1, 7, 7, 14, 128},  {1, 7, 7, 14, 256},  {1, 7, 4, 28, 128},
    {1, 7, 7, 7, 128},   {1, 4, 8, 16, 256},  {1, 4, 8, 16, 128},  {1, 4, 8, 8, 128},
    {1, 4, 7, 8, 128},   {1, 4, 7, 8, 256},   {1, 2, 7, 14, 256},  {1, 2, 8, 8, 256},
    {1, 2, 8, 8, 128},   {1, 2, 4, 8, 128},   {1, 2, 4, 8, 256},   {1, 1, 7, 7, 256},
    {1, 1, 8, 8, 256},   {1, 1, 4, 8, 128},   {1, 1, 4, 8, 256},   {1, 1, 4, 4, 128},
    {1, 1, 4, 4, 256},   {2, 4, 16, 16, 256},
};
constexpr int kGroups[] = {1, 2, 3, 5};

struct ExpandSizes {
  DepthwiseShape shape;
  int channels;
};
ExpandSizes sizes_of(const Graph& graph, const Node& node) {
  const std::vector<const Node*> parts = parts_of(graph, node, 2);
  return {depthwise_work(graph, *parts[1]).shape, conv_shape(graph, *parts[0]).c};
}

bool fits(const ExpandSizes& sizes, const ExpandTile& tile) {
  const DepthwiseShape& s = sizes.shape;
  // No tile is mostly empty, no group of channels is missing.
  const auto wastes = [](int extent, int tile_extent) { return tile_extent >= 2 * extent; };
  if (wastes(s.p, tile.tile_h) || wastes(s.q, tile.tile_w)) return false;
  if (tile.rows == 2 && (s.kernel != 3 || s.stride != 1)) return false;
  if (tile.groups > 1 && (tile.groups - 1) * 32 >= s.c) return false;
  return expand_shared_bytes(s, sizes.channels, tile) <= kExpandShared;
}

Tiles<ExpandTile> tiles_for(const ExpandSizes& sizes) {
  Tiles<ExpandTile> tiles{to_string};
  for (ExpandTile tile : kTiles) {
    for (const int groups : kGroups) {
      tile.groups = groups;
      if (fits(sizes, tile)) tiles.list.push_back(tile);
    }
  }
  return tiles;
}

class ExpandKernel final : public StepKernel {
 public:
  ExpandKernel(const DepthwiseWork& work, const Activation& act, int channels,
               const ExpandTile& tile)
      : work_(work), act_(act), channels_(channels), tile_(tile) {}

  // Inputs: x, weight, bias, no residual, then the weight and bias of the depthwise convolution.
  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    PROA_CUDA(launch_expand(arguments.inputs[0], arguments.inputs[1],
                            static_cast<const float*>(arguments.inputs[2]), act_,
                            with_pointers(work_, arguments, 4), channels_, tile_, stream));
    return {};
  }

 private:
  DepthwiseWork work_;
  Activation act_;
  int channels_;
  ExpandTile tile_;
};

Result<std::vector<std::string>> variants(const Graph& graph, const Node& node, Libraries&) {
  return tiles_for(sizes_of(graph, node)).variants();
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  const ExpandSizes sizes = sizes_of(graph, node);
  PROA_ASSIGN(const ExpandTile tile, tiles_for(sizes).find(variant));
  const std::vector<const Node*> parts = parts_of(graph, node, 2);
  return std::make_unique<ExpandKernel>(depthwise_work(graph, *parts[1]),
                                        std::get<Conv>(parts[0]->op).act, sizes.channels, tile);
}

}  // namespace

const KernelMaker kExpandMaker = {Implementation::kExpand, variants, build};

}  // namespace proa::engine::cuda
