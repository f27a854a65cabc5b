// The 1x1 convolutions around the end of a residual block, in one kernel: the one whose result is
// added to the residual, the one that makes the residual (a projection, whose result then never
// goes to memory), and the one of the next block that reads the sum (which then is not read back).
// The weights lie in shared memory, brought once by each block, whose warps then take one tile
// after another; or those that do not fit stream through it.
#include <algorithm>

#include "engine/cuda/kernels/block_end_tiles.cuh"

namespace proa::engine::cuda {
namespace {

using namespace block_end;

// All weights that a block needs lie in its shared memory.
template <int kTiles, int kSteps, int kNext, class Source>
__global__ void __launch_bounds__(most_threads(kTiles, kSteps, kNext), 1) held_kernel(BlockEnd e) {
  using Own = Tiles<kTiles, kSteps, kNext>;
  auto* shared = dynamic_shared<unsigned char>();
  const int channels = Own::channels(e), bytes = group_bytes(channels, kNext * kGroup);
  auto* bias = reinterpret_cast<float*>(shared + e.slice / kGroup * bytes);
  float* next_bias = bias + e.slice;

  allow_next();
  const int begin = static_cast<int>(blockIdx.y) * e.slice;  // of the channels of y
  const int end = min(begin + e.slice, e.outputs);
  for (int c = begin; c < end; c += kGroup) {
    load_group(e, c, channels, kNext * kGroup, shared + (c - begin) / kGroup * bytes);
  }
  const unsigned char* behind = shared + (end - begin) / kGroup * bytes;
  __pipeline_commit();
  load_bias(e, begin, end - begin, bias);
  load_next_bias(e, kNext * kGroup, next_bias);
  __pipeline_wait_prior(0);
  __syncthreads();
  wait_for_previous();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int tiles = (e.pixels + kTilePixels - 1) / kTilePixels;
  const int first = (static_cast<int>(blockIdx.x) * warps + warp) * kTiles;
  const int step = static_cast<int>(gridDim.x) * warps * kTiles;
  auto* ahead = reinterpret_cast<unsigned char*>(next_bias + kNext * kGroup);
  Source source(e, ahead + warp * Source::kWarpBytes, lane, first, step);
  for (int i = first; i < tiles; i += step) {
    Own own(e, i, begin, lane, next_bias, source);
    const float* group_bias = bias;
#pragma unroll 1
    for (const unsigned char* group = shared; group != behind; group += bytes) {
      own.make(e, lane, group + bytes != behind, group_bias, group, source);
      group_bias += kGroup;
    }
    own.end(e);
  }
}

// The weights of 32 channels at a time, for all warps of a block together, while those behind them
// are on their way.
constexpr int kStages = 3;

template <int kSteps, int kNext>
__global__ void __launch_bounds__(most_threads(1, kSteps, kNext), 1) streamed_kernel(BlockEnd e) {
  using Own = Tiles<1, kSteps, kNext>;
  auto* shared = dynamic_shared<unsigned char>();
  const int channels = Own::channels(e), bytes = group_bytes(channels, kNext * kGroup);
  auto* bias = reinterpret_cast<float*>(shared + kStages * bytes);
  float* next_bias = bias + e.outputs;

  const int warps = static_cast<int>(blockDim.x) / 32;
  const int tiles = (e.pixels + kTilePixels - 1) / kTilePixels;
  const int rounds = (tiles + warps - 1) / warps, groups = e.outputs / kGroup;
  const int own_rounds = (rounds - static_cast<int>(blockIdx.x) + static_cast<int>(gridDim.x) - 1) /
                         static_cast<int>(gridDim.x);
  // Brings the weights of the next 32 channels to the next stage; nothing behind the last.
  int left = own_rounds * groups, c_to_come = 0;
  unsigned char* stage_to_fill = shared;
  const auto stage_behind = [&](unsigned char* stage) {
    return stage == shared + (kStages - 1) * bytes ? shared : stage + bytes;
  };
  const auto fetch = [&] {
    if (left-- > 0) load_group(e, c_to_come, channels, kNext * kGroup, stage_to_fill);
    __pipeline_commit();
    c_to_come = c_to_come + kGroup < e.outputs ? c_to_come + kGroup : 0;
    stage_to_fill = stage_behind(stage_to_fill);
  };

  allow_next();
  for (int i = 0; i < kStages - 1; ++i) fetch();
  load_bias(e, 0, e.outputs, bias);
  load_next_bias(e, kNext * kGroup, next_bias);
  __syncthreads();
  wait_for_previous();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  unsigned char* stage = shared;
  for (int round = static_cast<int>(blockIdx.x); round < rounds;
       round += static_cast<int>(gridDim.x)) {
    // Every warp takes part, those without a tile too.
    FromMemory<1, kSteps, kNext> source(e, nullptr, lane, 0, 0);
    Own own(e, round * warps + warp, 0, lane, next_bias, source);
#pragma unroll 1
    for (int c = 0; c < e.outputs; c += kGroup, stage = stage_behind(stage)) {
      __pipeline_wait_prior(kStages - 2);
      __syncthreads();
      fetch();  // where the weights were that all have read
      own.make(e, lane, c + kGroup < e.outputs, bias + c, stage, source);
    }
    own.end(e);
  }
}

struct Variant {
  void (*kernel)(BlockEnd) = nullptr;
  int most_threads = 0;
  int warp_bytes = 0;  // of shared memory, besides those of the block
};

template <int kTiles, int kSteps, int kNext, class Source>
Variant held_by() {
  return {held_kernel<kTiles, kSteps, kNext, Source>, most_threads(kTiles, kSteps, kNext),
          Source::kWarpBytes};
}

template <int kTiles, int kSteps, int kNext>
Variant held(const BlockEndShape& shape, bool ahead) {
  if (!ahead) return held_by<kTiles, kSteps, kNext, FromMemory<kTiles, kSteps, kNext>>();
  if constexpr (kSteps > 0 && kNext > 0) {
    if (shape.outputs < kGroupsAhead * kGroup) return {};
    return shape.second_channels > 0
               ? held_by<kTiles, kSteps, kNext, Ahead<kTiles, kSteps, kNext, false>>()
               : held_by<kTiles, kSteps, kNext, Ahead<kTiles, kSteps, kNext, true>>();
  }
  return {};
}

template <int kSteps, int kNext>
Variant variant(const BlockEndShape& shape, const BlockEndTile& tile) {
  // The registers suffice for two tiles.
  constexpr bool kTwoFit = kSteps > 0 && kNext > 0 && 8 * kSteps + 16 * kNext <= 80;
  if (tile.way == BlockEndWay::kHold || tile.way == BlockEndWay::kReadAgain) {
    return held<1, kSteps, kNext>(shape, tile.ahead);
  }
  if constexpr (kTwoFit) {
    if (tile.way == BlockEndWay::kTwoTiles) return held<2, kSteps, kNext>(shape, tile.ahead);
  }
  if constexpr (kNext > 0) {
    if (tile.way == BlockEndWay::kStreamWeights && !tile.ahead) {
      return {streamed_kernel<kSteps, kNext>, most_threads(1, kSteps, kNext), 0};
    }
  }
  return {};
}

Variant variant_of(const BlockEndShape& s, const BlockEndTile& tile) {
  const int steps = tile.way == BlockEndWay::kReadAgain ? 0 : (s.channels + s.second_channels) / 32;
  const auto is = [&](int wanted, int next) {
    return steps == wanted && s.next_outputs == next * kGroup;
  };
  if (is(2, 2)) return variant<2, 2>(s, tile);
  if (is(2, 4)) return variant<2, 4>(s, tile);
  if (is(4, 0)) return variant<4, 0>(s, tile);
  if (is(4, 2)) return variant<4, 2>(s, tile);
  if (is(4, 4)) return variant<4, 4>(s, tile);
  if (is(12, 0)) return variant<12, 0>(s, tile);
  if (is(0, 0)) return variant<0, 0>(s, tile);
  return {};
}

Input input_of(const BlockEndInput& from, int channels) {
  return {static_cast<const __half*>(from.x), channels, from.h, from.w, from.stride};
}

}  // namespace

int block_end_threads(const BlockEndShape& shape, const BlockEndTile& tile) {
  return variant_of(shape, tile).most_threads;
}

std::size_t block_end_shared_bytes(const BlockEndShape& s, const BlockEndTile& tile) {
  const int channels = s.channels + s.second_channels;
  const int groups = tile.way == BlockEndWay::kStreamWeights ? kStages : tile.slice / kGroup;
  const int weights = groups * group_bytes(channels, s.next_outputs);
  const int floats = tile.slice + s.next_outputs;
  const int warps = tile.threads / 32 * variant_of(s, tile).warp_bytes;
  return static_cast<std::size_t>(weights + warps) +
         static_cast<std::size_t>(floats) * sizeof(float);
}

cudaError_t launch_block_end(const BlockEndWork& work, const BlockEndShape& shape,
                             const BlockEndTile& tile, const DeviceLimits& limits,
                             cudaStream_t stream) {
  const Variant chosen = variant_of(shape, tile);
  const Finish finish = finish_of(work.act), next_finish = finish_of(work.next_act);
  const std::size_t bytes = block_end_shared_bytes(shape, tile);
  if (chosen.kernel == nullptr || tile.threads > chosen.most_threads || !finish.bounds ||
      !next_finish.bounds || tile.slice % kGroup != 0 ||
      (shape.next_outputs > 0 && tile.slice < shape.outputs) ||
      (work.residual != nullptr && (shape.next_outputs == 0 || shape.second_channels > 0))) {
    return cudaErrorInvalidValue;
  }
  const BlockEnd e{input_of(work.first, shape.channels),
                   input_of(work.second, shape.second_channels),
                   static_cast<const __half*>(work.first.weight),
                   static_cast<const __half*>(work.second.weight),
                   work.first.bias,
                   work.second.bias,
                   static_cast<const __half*>(work.residual),
                   static_cast<__half*>(work.y),
                   static_cast<const __half*>(work.next_weight),
                   work.next_bias,
                   static_cast<__half*>(work.z),
                   finish,
                   next_finish,
                   shape.n * shape.p * shape.q,
                   shape.p,
                   shape.q,
                   shape.outputs,
                   tile.slice};
  // Always the same: others may launch the kernel with another size at the same time.
  cudaError_t code =
      cudaFuncSetAttribute(chosen.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(limits.shared_bytes));
  if (code != cudaSuccess) return code;
  int resident = 0;  // blocks of a multiprocessor
  code =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, chosen.kernel, tile.threads, bytes);
  if (code != cudaSuccess) return code;
  const int slices = divided(shape.outputs, tile.slice), warps = tile.threads / 32;
  const int tiles = tile.way == BlockEndWay::kTwoTiles ? 2 : 1;  // of a warp
  const int wanted = divided(e.pixels, kTilePixels * tiles * warps);
  const int most = std::max(resident * limits.multiprocessors / slices, 1);
  const dim3 grid(static_cast<unsigned>(std::min(wanted, most)), static_cast<unsigned>(slices));
  return launch_grid(chosen.kernel, grid, tile.threads, bytes, stream, e);
}

}  // namespace proa::engine::cuda
