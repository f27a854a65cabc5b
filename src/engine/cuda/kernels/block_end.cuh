// What a warp does of the 1x1 convolutions around the end of a residual block, for the kernels that
// differ in how the weights come to it.
//
// A warp owns 16 pixels. It holds what it reads of them in registers as the left side of matrix
// products (or reads it again for every 32 channels that it makes: many inputs, few pixels). The
// sum is made 32 channels at a time, finished, written, and is at once the left side of the next
// convolution's products.
//
// The order of channels within a product is free as long as both sides agree, and so is which
// column of a product holds which channel: lane l takes 8 neighbouring channels from 8 (l % 4) on
// of every 32, so that all that it reads and writes are 16 bytes in one piece.
#pragma once

#include <cuda_pipeline.h>

#include "engine/cuda/kernels/matrix.cuh"

namespace proa::engine::cuda::block_end {

constexpr int kGroup = 32;  // channels that a warp makes at a time
constexpr int kTilePixels = 16;

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

}  // namespace proa::engine::cuda::block_end
