// The 1x1 convolutions around the end of a residual block, in one kernel: the one whose result is
// added to the residual, the one that makes the residual (a projection, whose result then never
// goes to memory), and the one of the next block that reads the sum (which then is not read back).
//
// A warp owns 16 pixels. It holds what it reads of them in registers as the left side of matrix
// products (or reads it again for every 32 channels that it makes: many inputs, few pixels). The
// sum is made 32 channels at a time, finished, written, and is at once the left side of the next
// convolution's products. The weights lie in shared memory, brought once by each block, whose warps
// then take one tile after another; or those that do not fit stream through it.
//
// The order of channels within a product is free as long as both sides agree, and so is which
// column of a product holds which channel: lane l takes 8 neighbouring channels from 8 (l % 4) on
// of every 32, so that all that it reads and writes are 16 bytes in one piece.
#include <cuda_pipeline.h>

#include <algorithm>

#include "engine/cuda/kernels/matrix.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kGroup = 32;  // channels that a warp makes at a time
constexpr int kTilePixels = 16;
constexpr std::size_t kReserved = 1024;  // bytes of shared memory that the system takes for a block

// Rows in shared memory lie an odd number of 64-byte pieces apart: the eight lanes that one access
// serves read two neighbouring rows, 64 bytes of each.
__host__ __device__ constexpr int pitch_of(int channels) { return (channels / 32 | 1) * 64; }

struct Input {
  const __half* x;
  int channels, h, w, stride;
};

struct BlockEnd {
  Input first, second;  // second.channels = 0: none
  const __half *weight, *second_weight;
  const float *bias, *second_bias;  // null: none
  const __half* residual;           // null: none
  __half* y;                        // null: nobody else reads it
  const __half* next_weight;
  const float* next_bias;
  __half* z;
  Finish finish, next_finish;
  int pixels, p, q;
  int outputs;  // channels of y
  int slice;    // of them, that a block makes
};

// Where the numbers of pixel (n, p, q) of the result begin.
__device__ __forceinline__ const __half* pixel_of(const Input& input, const BlockEnd& e, int row) {
  std::int64_t pixel = row;
  if (input.stride != 1) {
    const int line = row / e.q, column = row - line * e.q;
    const int n = line / e.p, p = line - n * e.p;
    pixel = (static_cast<std::int64_t>(n) * input.h + p * input.stride) * input.w +
            column * input.stride;
  }
  return input.x + pixel * input.channels;
}

// Copies `channels` numbers of each of `rows` rows, `step` numbers apart, to rows `pitch` bytes
// apart.
__device__ __forceinline__ void load_rows(const __half* from, int rows, int channels, int step,
                                          int pitch, unsigned char* to) {
  const int pieces = channels / 8, total = rows * pieces;
  for (int i = static_cast<int>(threadIdx.x); i < total; i += static_cast<int>(blockDim.x)) {
    const int row = i / pieces, piece = i - row * pieces;
    __pipeline_memcpy_async(to + row * pitch + piece * 16, from + row * step + piece * 8, 16);
  }
}

// The weights of `count` channels of y from `begin` on: of the first input, behind it the second.
__device__ __forceinline__ void load_weights(const BlockEnd& e, int begin, int count, int pitch,
                                             unsigned char* to) {
  const int channels = e.first.channels, more = e.second.channels;
  load_rows(e.weight + begin * channels, count, channels, channels, pitch, to);
  if (more == 0) return;
  load_rows(e.second_weight + begin * more, count, more, more, pitch, to + channels * 2);
}

__device__ __forceinline__ float bias_at(const float* bias, int i) {
  return bias == nullptr ? 0.0f : bias[i];
}
__device__ __forceinline__ void load_bias(const BlockEnd& e, int begin, int count, float* to) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    to[i] = bias_at(e.bias, begin + i) + bias_at(e.second_bias, begin + i);
  }
}
__device__ __forceinline__ void load_next_bias(const BlockEnd& e, int count, float* to) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    to[i] = bias_at(e.next_bias, i);
  }
}

// Which 8 of every 32 channels a lane has.
__device__ __forceinline__ int own_channel(int lane) { return lane % 4 * 8; }
// Where in shared memory the first of a lane's rows of weights begins; four of them lie two apart.
__device__ __forceinline__ int row_offset(int lane, int pitch) {
  return (lane / 8 * 8 + lane / 4 % 2) * pitch + own_channel(lane) * 2;
}

__device__ __forceinline__ uint4 load_vector(const __half* from) {
  return *reinterpret_cast<const uint4*>(from);
}

// 8 channels of the two rows of a tile that a lane has: a step of 32 channels of a product is two
// steps of 16.
struct Pair {
  uint4 upper, lower;
};
__device__ __forceinline__ void multiply_low(float (&sum)[4], const Pair& a, const uint4& b) {
  const unsigned left[4] = {a.upper.x, a.lower.x, a.upper.y, a.lower.y};
  multiply(sum, left, b.x, b.y);
}
__device__ __forceinline__ void multiply_high(float (&sum)[4], const Pair& a, const uint4& b) {
  const unsigned left[4] = {a.upper.z, a.lower.z, a.upper.w, a.lower.w};
  multiply(sum, left, b.z, b.w);
}

// sums += a x the weights of 32 channels at `weights`, whose row for this lane's column is the
// first of four that lie two apart.
__device__ __forceinline__ void multiply_group(float (&sums)[4][4], const Pair& a,
                                               const unsigned char* weights, int pitch) {
  uint4 b[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) b[j] = *reinterpret_cast<const uint4*>(weights + 2 * j * pitch);
#pragma unroll
  for (int j = 0; j < 4; ++j) multiply_low(sums[j], a, b[j]);
#pragma unroll
  for (int j = 0; j < 4; ++j) multiply_high(sums[j], a, b[j]);
}

// The bias of a lane's 8 channels, for both rows.
__device__ __forceinline__ void begin_sums(const float* bias, float (&sums)[4][4]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sums[j][0] = sums[j][2] = bias[2 * j];
    sums[j][1] = sums[j][3] = bias[2 * j + 1];
  }
}

__device__ __forceinline__ unsigned finish_pair(const Finish& f, float low, float high,
                                                unsigned residual) {
  const float2 added = __half22float2(*reinterpret_cast<const __half2*>(&residual));
  const __half2 pair = __floats2half2_rn(fminf(fmaxf(low + added.x, f.low), f.high),
                                         fminf(fmaxf(high + added.y, f.low), f.high));
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Adds the residual, applies the bounds, rounds.
__device__ __forceinline__ Pair finish_sums(const Finish& f, const float (&sums)[4][4],
                                            const Pair& residual) {
  Pair y;
  y.upper.x = finish_pair(f, sums[0][0], sums[0][1], residual.upper.x);
  y.upper.y = finish_pair(f, sums[1][0], sums[1][1], residual.upper.y);
  y.upper.z = finish_pair(f, sums[2][0], sums[2][1], residual.upper.z);
  y.upper.w = finish_pair(f, sums[3][0], sums[3][1], residual.upper.w);
  y.lower.x = finish_pair(f, sums[0][2], sums[0][3], residual.lower.x);
  y.lower.y = finish_pair(f, sums[1][2], sums[1][3], residual.lower.y);
  y.lower.z = finish_pair(f, sums[2][2], sums[2][3], residual.lower.z);
  y.lower.w = finish_pair(f, sums[3][2], sums[3][3], residual.lower.w);
  return y;
}

// A lane's rows of a tile, and where they lie in [pixels, channels].
struct Rows {
  int upper, lower;  // those behind the last are read as the last, and not written
  bool has_upper, has_lower;
};
__device__ __forceinline__ Rows rows_of(const BlockEnd& e, int tile, int lane) {
  const int upper = tile * kTilePixels + lane / 4, lower = upper + 8;
  return {min(upper, e.pixels - 1), min(lower, e.pixels - 1), upper < e.pixels, lower < e.pixels};
}
__device__ __forceinline__ void store_pair(const Rows& rows, const Pair& pair, __half* to,
                                           int channels) {
  if (rows.has_upper) {
    *reinterpret_cast<uint4*>(to + static_cast<std::int64_t>(rows.upper) * channels) = pair.upper;
  }
  if (rows.has_lower) {
    *reinterpret_cast<uint4*>(to + static_cast<std::int64_t>(rows.lower) * channels) = pair.lower;
  }
}
__device__ __forceinline__ Pair load_pair(const Rows& rows, const __half* from, int channels) {
  return {load_vector(from + static_cast<std::int64_t>(rows.upper) * channels),
          load_vector(from + static_cast<std::int64_t>(rows.lower) * channels)};
}

// What a lane reads of its two pixels: the channels of the first input, then those of the second.
class InputRows {
 public:
  __device__ __forceinline__ InputRows(const BlockEnd& e, const Rows& rows, int own)
      : first_steps_(e.first.channels / 32),
        upper_(pixel_of(e.first, e, rows.upper) + own),
        lower_(pixel_of(e.first, e, rows.lower) + own),
        second_upper_(upper_),
        second_lower_(lower_) {
    if (e.second.channels == 0) return;
    second_upper_ = pixel_of(e.second, e, rows.upper) + own - e.first.channels;
    second_lower_ = pixel_of(e.second, e, rows.lower) + own - e.first.channels;
  }
  // Of step `s`: 32 channels of a warp.
  __device__ __forceinline__ Pair load(int s) const {
    const bool first = s < first_steps_;
    return {load_vector((first ? upper_ : second_upper_) + s * 32),
            load_vector((first ? lower_ : second_lower_) + s * 32)};
  }

 private:
  int first_steps_;
  const __half *upper_, *lower_, *second_upper_, *second_lower_;
};

// The registers of a warp decide how many threads a block may have.
constexpr int most_threads(int steps, int next_groups) {
  return 8 * steps + 16 * next_groups <= 64 ? 512 : 384;
}

// A warp's 16 pixels under way, as a lane has them. kSteps: 32 channels each, of both inputs; 0:
// any number, read again for every 32 channels. kNext: 32 channels each, of the next convolution.
template <int kSteps, int kNext>
struct Tile {
  Rows rows;
  InputRows inputs;
  Pair x[kSteps > 0 ? kSteps : 1];
  float after_sums[kNext > 0 ? kNext : 1][4][4];
  Pair residual;  // of the channels that come next

  // `c`: the first channel that it makes.
  __device__ __forceinline__ Tile(const BlockEnd& e, int tile, int c, int lane,
                                  const float* next_bias)
      : rows(rows_of(e, tile, lane)), inputs(e, rows, own_channel(lane)), residual{} {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) x[s] = inputs.load(s);
#pragma unroll
    for (int g = 0; g < kNext; ++g) {
      begin_sums(next_bias + g * kGroup + own_channel(lane), after_sums[g]);
    }
    load_residual(e, c, lane);
  }

  __device__ __forceinline__ void load_residual(const BlockEnd& e, int c, int lane) {
    if (e.residual == nullptr) return;
    residual = load_pair(rows, e.residual + c + own_channel(lane), e.outputs);
  }

  // Makes 32 channels from `c` on. `weights`: the lane's first row of theirs; `after`: the lane's
  // first row of the next convolution's weights, at channel `c`. More follow when `more`.
  __device__ __forceinline__ void make(const BlockEnd& e, int c, int lane, bool more,
                                       const float* bias, const unsigned char* weights, int pitch,
                                       const unsigned char* after, int next_pitch) {
    float sums[4][4];
    begin_sums(bias + own_channel(lane), sums);
    const Pair added = residual;
    if (more) load_residual(e, c + kGroup, lane);  // ahead of its use
    if constexpr (kSteps > 0) {
#pragma unroll
      for (int s = 0; s < kSteps; ++s) multiply_group(sums, x[s], weights + s * 64, pitch);
    } else {
      const int steps = (e.first.channels + e.second.channels) / 32;
#pragma unroll 8
      for (int s = 0; s < steps; ++s) {
        multiply_group(sums, inputs.load(s), weights + s * 64, pitch);
      }
    }
    const Pair y = finish_sums(e.finish, sums, added);
    if (e.y != nullptr) store_pair(rows, y, e.y + c + own_channel(lane), e.outputs);
#pragma unroll
    for (int g = 0; g < kNext; ++g) {
      multiply_group(after_sums[g], y, after + g * kGroup * next_pitch, next_pitch);
    }
  }

  __device__ __forceinline__ void end(const BlockEnd& e, int lane) {
#pragma unroll
    for (int g = 0; g < kNext; ++g) {
      store_pair(rows, finish_sums(e.next_finish, after_sums[g], Pair{}),
                 e.z + g * kGroup + own_channel(lane), kNext * kGroup);
    }
  }
};

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

int divided(int a, int b) { return (a + b - 1) / b; }

Input input_of(const BlockEndInput& from) {
  return {static_cast<const __half*>(from.x), from.channels, from.h, from.w, from.stride};
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
                             const BlockEndTile& tile, int multiprocessors, cudaStream_t stream) {
  const Variant chosen = variant_of(shape, tile.way);
  const Finish finish = finish_of(work.act), next_finish = finish_of(work.next_act);
  const std::size_t bytes = block_end_shared_bytes(shape, tile.slice, tile.way);
  if (chosen.kernel == nullptr || tile.threads > chosen.most_threads || !finish.bounds ||
      !next_finish.bounds || tile.slice % kGroup != 0 ||
      (shape.next_outputs > 0 && tile.slice < shape.outputs)) {
    return cudaErrorInvalidValue;
  }
  const BlockEnd e{input_of(work.first),
                   input_of(work.second),
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
  const cudaError_t code = cudaFuncSetAttribute(
      chosen.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (code != cudaSuccess) return code;
  const int slices = divided(shape.outputs, tile.slice), warps = tile.threads / 32;
  const int wanted = divided(divided(e.pixels, kTilePixels), warps);
  const int resident = static_cast<int>(kBlockEndShared / (bytes + kReserved)) * multiprocessors;
  const dim3 grid(static_cast<unsigned>(std::min(wanted, std::max(resident / slices, 1))),
                  static_cast<unsigned>(slices));
  return launch_grid(chosen.kernel, grid, tile.threads, bytes, stream, e);
}

}  // namespace proa::engine::cuda
