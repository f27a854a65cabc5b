// The 1x1 convolutions around the end of a residual block, in one kernel: the one whose result is
// added to the residual, the one that makes the residual (a projection, whose result then never
// goes to memory), and the one of the next block that reads the sum (which then is not read back).
// The weights lie in shared memory, brought once by each block, whose warps then take one tile
// after another; or those that do not fit stream through it.
#include <algorithm>

#include "engine/cuda/kernels/block_end.cuh"

namespace proa::engine::cuda {
namespace {

using namespace block_end;

// All weights that a block needs lie in its shared memory.
template <int kSteps, int kNext>
__global__ void __launch_bounds__(most_threads(kSteps, kNext), 1) held_kernel(BlockEnd e) {
  auto* shared = dynamic_shared<unsigned char>();
  const int pitch = pitch_of(e.first.channels + e.second.channels);
  const int next_pitch = pitch_of(e.outputs);
  unsigned char* next_weights = shared + e.slice * pitch;
  auto* bias = reinterpret_cast<float*>(next_weights + kNext * kGroup * next_pitch);
  float* next_bias = bias + e.slice;

  allow_next();
  const int begin = static_cast<int>(blockIdx.y) * e.slice;  // of the channels of y
  const int end = min(begin + e.slice, e.outputs);
  load_weights(e, begin, end - begin, pitch, shared);
  if (kNext > 0) {
    load_rows(e.next_weight, kNext * kGroup, e.outputs, e.outputs, next_pitch, next_weights);
  }
  __pipeline_commit();
  load_bias(e, begin, end - begin, bias);
  load_next_bias(e, kNext * kGroup, next_bias);
  __pipeline_wait_prior(0);
  __syncthreads();
  wait_for_previous();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const unsigned char* weights = shared + row_offset(lane, pitch);
  const unsigned char* after = next_weights + row_offset(lane, next_pitch);
  const int tiles = (e.pixels + kTilePixels - 1) / kTilePixels;
  for (int i = static_cast<int>(blockIdx.x) * warps + warp; i < tiles;
       i += static_cast<int>(gridDim.x) * warps) {
    Tile<kSteps, kNext> tile(e, i, begin, lane, next_bias);
#pragma unroll 1
    for (int c = begin; c < end; c += kGroup) {
      tile.make(e, c, lane, c + kGroup < end, bias + c - begin, weights + (c - begin) * pitch,
                pitch, after + c * 2, next_pitch);
    }
    tile.end(e, lane);
  }
}

// The weights of 32 channels at a time, for all warps of a block together, while those behind them
// are on their way.
constexpr int kStages = 3;
constexpr int kNextPitch = 64;  // bytes of a row of the next convolution's weights in a stage

__host__ __device__ constexpr int stage_bytes(int channels, int next_outputs) {
  return kGroup * pitch_of(channels) + next_outputs * kNextPitch;
}

template <int kSteps, int kNext>
__global__ void __launch_bounds__(most_threads(kSteps, kNext), 1) streamed_kernel(BlockEnd e) {
  auto* shared = dynamic_shared<unsigned char>();
  const int pitch = pitch_of(e.first.channels + e.second.channels);
  const int stage = stage_bytes(e.first.channels + e.second.channels, kNext * kGroup);
  auto* bias = reinterpret_cast<float*>(shared + kStages * stage);
  float* next_bias = bias + e.outputs;

  const int warps = static_cast<int>(blockDim.x) / 32;
  const int tiles = (e.pixels + kTilePixels - 1) / kTilePixels;
  const int rounds = (tiles + warps - 1) / warps, groups = e.outputs / kGroup;
  const int own_rounds = (rounds - static_cast<int>(blockIdx.x) + static_cast<int>(gridDim.x) - 1) /
                         static_cast<int>(gridDim.x);
  const int total = own_rounds * groups;  // of 32 channels, one after another
  // Group number `i` of all into its stage; nothing behind the last.
  const auto fetch = [&](int i) {
    if (i < total) {
      const int c = i % groups * kGroup;
      unsigned char* to = shared + i % kStages * stage;
      load_weights(e, c, kGroup, pitch, to);
      load_rows(e.next_weight + c, kNext * kGroup, kGroup, e.outputs, kNextPitch,
                to + kGroup * pitch);
    }
    __pipeline_commit();
  };

  allow_next();
  for (int i = 0; i < kStages - 1; ++i) fetch(i);
  load_bias(e, 0, e.outputs, bias);
  load_next_bias(e, kNext * kGroup, next_bias);
  __syncthreads();
  wait_for_previous();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int i = 0;
  for (int round = static_cast<int>(blockIdx.x); round < rounds;
       round += static_cast<int>(gridDim.x)) {
    // Every warp takes part, those without a tile too.
    Tile<kSteps, kNext> tile(e, round * warps + warp, 0, lane, next_bias);
#pragma unroll 1
    for (int c = 0; c < e.outputs; c += kGroup, ++i) {
      __pipeline_wait_prior(kStages - 2);
      __syncthreads();
      fetch(i + kStages - 1);  // where group i - 1 was, which all have read
      const unsigned char* weights = shared + i % kStages * stage;
      tile.make(e, c, lane, c + kGroup < e.outputs, bias + c, weights + row_offset(lane, pitch),
                pitch, weights + kGroup * pitch + row_offset(lane, kNextPitch), kNextPitch);
    }
    tile.end(e, lane);
  }
}

struct Variant {
  void (*kernel)(BlockEnd);
  int most_threads;
};

template <int kSteps, int kNext>
Variant variant(BlockEndWay way) {
  constexpr int kThreads = most_threads(kSteps, kNext);
  if constexpr (kNext > 0) {
    if (way == BlockEndWay::kStreamWeights) return {streamed_kernel<kSteps, kNext>, kThreads};
  }
  if (way == BlockEndWay::kStreamWeights) return {nullptr, 0};
  return {held_kernel<kSteps, kNext>, kThreads};
}

Variant variant_of(const BlockEndShape& s, BlockEndWay way) {
  const int steps = way == BlockEndWay::kReadAgain ? 0 : (s.channels + s.second_channels) / 32;
  const auto is = [&](int wanted, int next) {
    return steps == wanted && s.next_outputs == next * kGroup;
  };
  if (is(2, 2)) return variant<2, 2>(way);
  if (is(2, 4)) return variant<2, 4>(way);
  if (is(4, 0)) return variant<4, 0>(way);
  if (is(4, 2)) return variant<4, 2>(way);
  if (is(4, 4)) return variant<4, 4>(way);
  if (is(12, 0)) return variant<12, 0>(way);
  if (is(0, 0)) return variant<0, 0>(way);
  return {nullptr, 0};
}

Input input_of(const BlockEndInput& from, int channels) {
  return {static_cast<const __half*>(from.x), channels, from.h, from.w, from.stride};
}

}  // namespace

int block_end_threads(const BlockEndShape& shape, BlockEndWay way) {
  return variant_of(shape, way).most_threads;
}

std::size_t block_end_shared_bytes(const BlockEndShape& s, int slice, BlockEndWay way) {
  const int channels = s.channels + s.second_channels;
  const int weights = way == BlockEndWay::kStreamWeights
                          ? kStages * stage_bytes(channels, s.next_outputs)
                          : slice * pitch_of(channels) + s.next_outputs * pitch_of(s.outputs);
  const int floats = slice + s.next_outputs;
  return static_cast<std::size_t>(weights) + static_cast<std::size_t>(floats) * sizeof(float);
}

cudaError_t launch_block_end(const BlockEndWork& work, const BlockEndShape& shape,
                             const BlockEndTile& tile, const DeviceLimits& limits,
                             cudaStream_t stream) {
  const Variant chosen = variant_of(shape, tile.way);
  const Finish finish = finish_of(work.act), next_finish = finish_of(work.next_act);
  const std::size_t bytes = block_end_shared_bytes(shape, tile.slice, tile.way);
  if (chosen.kernel == nullptr || tile.threads > chosen.most_threads || !finish.bounds ||
      !next_finish.bounds || tile.slice % kGroup != 0 ||
      (shape.next_outputs > 0 && tile.slice < shape.outputs)) {
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
  const int wanted = divided(divided(e.pixels, kTilePixels), warps);
  const int most = std::max(resident * limits.multiprocessors / slices, 1);
  const dim3 grid(static_cast<unsigned>(std::min(wanted, most)), static_cast<unsigned>(slices));
  return launch_grid(chosen.kernel, grid, tile.threads, bytes, stream, e);
}

}  // namespace proa::engine::cuda
