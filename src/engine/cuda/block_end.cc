// The 1x1 convolutions around the end of a residual block by one kernel of our own. A variant is
// the threads of a block, how many channels of the sum it makes, and what it does not hold: "t256
// of 128, inputs again"; or with how many pixels a warp has: "t256 of 256, two tiles"; or that it
// reads what comes next beforehand: "t256 of 256, ahead".
#include "engine/cuda/kernels/kernels.h"
#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"
#include "engine/cuda/tiles.h"

namespace proa::engine::cuda {
namespace {

// Few pixels want many small blocks.
constexpr int kFewPixels = 16 * 1024;
constexpr int kThreads[] = {256, 384, 512, 128}, kThreadsForFew[] = {128, 256, 64, 192};
constexpr int kSlices[] = {256, 128, 64}, kSlicesForFew[] = {128, 64, 32};

constexpr int kThreadsOfTwoTiles[] = {256}, kThreadsOfTwoTilesForFew[] = {128, 64};

constexpr BlockEndWay kWays[] = {BlockEndWay::kHold, BlockEndWay::kTwoTiles,
                                 BlockEndWay::kStreamWeights, BlockEndWay::kReadAgain};

std::span<const int> threads_for(BlockEndWay way, bool few) {
  if (way != BlockEndWay::kTwoTiles) {
    return few ? std::span<const int>(kThreadsForFew) : kThreads;
  }
  return few ? std::span<const int>(kThreadsOfTwoTilesForFew) : kThreadsOfTwoTiles;
}

std::string to_string(const BlockEndTile& tile) {
  const std::string_view way = tile.way == BlockEndWay::kReadAgain       ? ", inputs again"
                               : tile.way == BlockEndWay::kStreamWeights ? ", weights again"
                               : tile.way == BlockEndWay::kTwoTiles      ? ", two tiles"
                                                                         : "";
  return fmt::format("t{} of {}{}{}", tile.threads, tile.slice, way, tile.ahead ? ", ahead" : "");
}

// The convolutions of a fused node, and where their inputs begin among its own.
struct Parts {
  const Node* projection = nullptr;  // null: the residual is an input, or there is none
  const Node* sum = nullptr;
  const Node* next = nullptr;  // null: the sum is all
  std::size_t sum_at = 0, next_at = 0;
};

Parts parts_of_block(const Graph& graph, const Node& fused) {
  // Four inputs of the first, three of each that reads another's result.
  const std::vector<const Node*> nodes = parts_of(graph, fused, (fused.inputs.size() - 1) / 3);
  Parts parts;
  const bool projected = nodes[1]->input(3) == nodes[0]->output();
  if (projected) parts.projection = nodes[0];
  parts.sum = nodes[projected ? 1 : 0];
  parts.sum_at = projected ? 4 : 0;
  const std::size_t next = projected ? 2 : 1;
  if (next < nodes.size()) parts.next = nodes[next];
  parts.next_at = projected ? 7 : 4;
  return parts;
}

int channels_of(const Graph& graph, ValueId id) {
  return static_cast<int>(graph.value(id).shape[3]);
}

BlockEndShape shape_of(const Graph& graph, const Parts& parts) {
  const ConvShape sum = conv_shape(graph, *parts.sum);
  BlockEndShape shape{sum.n, sum.p, sum.q, sum.c, 0, sum.k, 0};
  if (parts.projection != nullptr) {
    shape.second_channels = channels_of(graph, parts.projection->inputs[0]);
  }
  if (parts.next != nullptr) shape.next_outputs = channels_of(graph, parts.next->output());
  return shape;
}

Tiles<BlockEndTile> tiles_for(const BlockEndShape& shape, const DeviceLimits& limits) {
  Tiles<BlockEndTile> tiles{to_string};
  const bool few = shape.n * shape.p * shape.q <= kFewPixels;
  const auto add = [&](int slice) {
    for (const BlockEndWay way : kWays) {
      for (const int threads : threads_for(way, few)) {
        for (const bool ahead : {false, true}) {
          const BlockEndTile tile{threads, slice, way, ahead};
          if (threads <= block_end_threads(shape, tile) &&
              block_end_shared_bytes(shape, tile) <= limits.shared_bytes) {
            tiles.list.push_back(tile);
          }
        }
      }
    }
  };
  add(shape.outputs);
  if (shape.next_outputs > 0) return tiles;
  for (const int slice : few ? std::span<const int>(kSlicesForFew) : kSlices) {
    if (slice < shape.outputs) add(slice);
  }
  return tiles;
}

class BlockEndKernel final : public StepKernel {
 public:
  BlockEndKernel(const BlockEndWork& work, const Parts& parts, const BlockEndShape& shape,
                 const BlockEndTile& tile, const DeviceLimits& limits)
      : work_(work),
        sum_at_(parts.sum_at),
        next_at_(parts.next_at),
        shape_(shape),
        tile_(tile),
        limits_(limits) {}

  Status launch(const Arguments& arguments, Libraries&, cudaStream_t stream) override {
    BlockEndWork work = work_;
    const auto& inputs = arguments.inputs;
    const auto bias = [&](std::size_t i) { return static_cast<const float*>(inputs[i]); };
    const auto read = [&](BlockEndInput& input, std::size_t at) {
      input.x = inputs[at], input.weight = inputs[at + 1], input.bias = bias(at + 2);
    };
    read(work.first, sum_at_);
    if (shape_.second_channels > 0) {
      read(work.second, 0);
    } else {
      work.residual = inputs[3];
    }
    if (shape_.next_outputs > 0) {
      work.next_weight = inputs[next_at_], work.next_bias = bias(next_at_ + 1);
      work.z = arguments.output;
      work.y = arguments.second_output;
    } else {
      work.y = arguments.output;
    }
    PROA_CUDA(launch_block_end(work, shape_, tile_, limits_, stream));
    return {};
  }

 private:
  BlockEndWork work_;
  std::size_t sum_at_, next_at_;
  BlockEndShape shape_;
  BlockEndTile tile_;
  DeviceLimits limits_;
};

BlockEndInput input_of(const Graph& graph, const Node& node) {
  const ConvShape s = conv_shape(graph, node);
  return {nullptr, nullptr, nullptr, s.h, s.w, s.stride_h};
}

Result<std::vector<std::string>> variants(const Graph& graph, const Node& node, Libraries&) {
  PROA_ASSIGN(const DeviceLimits limits, device_limits());
  return tiles_for(shape_of(graph, parts_of_block(graph, node)), limits).variants();
}

Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  PROA_ASSIGN(const DeviceLimits limits, device_limits());
  const Parts parts = parts_of_block(graph, node);
  const BlockEndShape shape = shape_of(graph, parts);
  PROA_ASSIGN(const BlockEndTile tile, tiles_for(shape, limits).find(variant));
  BlockEndWork work{};
  work.first = input_of(graph, *parts.sum);
  if (parts.projection != nullptr) work.second = input_of(graph, *parts.projection);
  work.act = std::get<Conv>(parts.sum->op).act;
  if (parts.next != nullptr) work.next_act = std::get<Conv>(parts.next->op).act;
  return std::make_unique<BlockEndKernel>(work, parts, shape, tile, limits);
}

}  // namespace

const KernelMaker kBlockEndMaker = {Implementation::kBlockEnd, variants, build};

}  // namespace proa::engine::cuda
