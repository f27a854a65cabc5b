// What a warp does of the 1x1 convolutions around the end of a residual block, for the kernels that
// differ in how the weights come to it.
//
// A warp owns a tile of 16 pixels, or two: then it reads half as many weights from shared memory
// for each, which is what takes longest of many pixels. It holds what it reads of them in registers
// as the left side of matrix products (or reads it again for every 32 channels that it makes: many
// inputs, few pixels). The sum is made 32 channels at a time, finished, written, and is at once the
// left side of the next convolution's products.
//
// The order of channels within a product is free as long as both sides agree, and so is which
// column of a product holds which channel: lane l takes 8 neighbouring channels from 8 (l % 4) on
// of every 32, so that all that it reads and writes are 16 bytes in one piece.
//
// Here are the weights and the arithmetic; block_end_sources.cuh says where pixels come from,
// block_end_tiles.cuh puts both together.
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

// The weights of 32 channels of y lie together: those that make them (a row has those of the first
// input, behind them the second's), then those of the next convolution that read them.
constexpr int kNextPitch = 64;

__host__ __device__ constexpr int group_bytes(int channels, int next_outputs) {
  return kGroup * pitch_of(channels) + next_outputs * kNextPitch;
}

// Those of the channels from `c` on. `channels`: of both inputs.
__device__ __forceinline__ void load_group(const BlockEnd& e, int c, int channels, int next_outputs,
                                           unsigned char* to) {
  const int begin = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  const int pieces = channels / 8, first_pieces = e.first.channels / 8, pitch = pitch_of(channels);
  for (int i = begin; i < kGroup * pieces; i += step) {
    const int row = i / pieces, piece = i - row * pieces;
    const __half* from = piece < first_pieces ? e.weight + (c + row) * e.first.channels + piece * 8
                                              : e.second_weight + (c + row) * e.second.channels +
                                                    (piece - first_pieces) * 8;
    __pipeline_memcpy_async(to + row * pitch + piece * 16, from, 16);
  }
  unsigned char* next = to + kGroup * pitch;
  constexpr int kPieces = kNextPitch / 16;
  for (int i = begin; i < next_outputs * kPieces; i += step) {
    const int row = i / kPieces, piece = i % kPieces;
    __pipeline_memcpy_async(next + i * 16, e.next_weight + row * e.outputs + c + piece * 8, 16);
  }
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

// 8 channels of the two rows of a tile that a lane has, as they lie in memory.
struct Pair {
  uint4 upper, lower;
};

// The same as the left side of products, whose steps of 16 channels want both rows by turns in
// neighbouring registers: 32 channels are two steps.
struct Fragment {
  unsigned step[2][4];
};

// Whether there are a lane's two pixels.
struct There {
  bool upper, lower;
};

__device__ __forceinline__ Fragment fragment_of(const Pair& pair) {
  const uint4 &u = pair.upper, &l = pair.lower;
  return {{{u.x, l.x, u.y, l.y}, {u.z, l.z, u.w, l.w}}};
}

// Zeros for pixels that are not there. They need not be; but what memory wants in neighbouring
// registers of another order is moved for each product anew, unless something is computed in
// between; and that for each product too, if the compiler may.
__device__ __forceinline__ Fragment only(There there, const Fragment& f) {
  Fragment kept;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    unsigned& to = kept.step[i / 4][i % 4];
    to = (i % 2 == 0 ? there.upper : there.lower) ? f.step[i / 4][i % 4] : 0;
    asm volatile("" : "+r"(to));
  }
  return kept;
}

// A warp's sums for 32 channels of a tile: of four products of 8 columns each.
using Sums = float[4][4];

// sums += a x the weights of 32 channels at `weights`, whose row for this lane's column is the
// first of four that lie two apart. What is read of them serves all tiles.
template <int kTiles>
__device__ __forceinline__ void multiply_group(Sums (&sums)[kTiles], const Fragment (&a)[kTiles],
                                               const unsigned char* weights, int pitch) {
  uint4 b[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) b[j] = *reinterpret_cast<const uint4*>(weights + 2 * j * pitch);
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) multiply(sums[i][j], a[i].step[0], b[j].x, b[j].y);
  }
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) multiply(sums[i][j], a[i].step[1], b[j].z, b[j].w);
  }
}

// The bias of a lane's 8 channels, for both rows.
__device__ __forceinline__ void begin_sums(const float* bias, Sums& sums) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sums[j][0] = sums[j][2] = bias[2 * j];
    sums[j][1] = sums[j][3] = bias[2 * j + 1];
  }
}

__device__ __forceinline__ void add_pair(unsigned pair, float& low, float& high) {
  const float2 added = __half22float2(*reinterpret_cast<const __half2*>(&pair));
  low += added.x, high += added.y;
}
__device__ __forceinline__ void add_residual(const Pair& residual, Sums& sums) {
  const uint4 &u = residual.upper, &l = residual.lower;
  const unsigned upper[4] = {u.x, u.y, u.z, u.w}, lower[4] = {l.x, l.y, l.z, l.w};
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    add_pair(upper[j], sums[j][0], sums[j][1]);
    add_pair(lower[j], sums[j][2], sums[j][3]);
  }
}

__device__ __forceinline__ unsigned finish_pair(const HalfBounds& bounds, float low, float high) {
  const __half2 pair = clamp_pair(__floats2half2_rn(low, high), bounds);
  return *reinterpret_cast<const unsigned*>(&pair);
}

// Rounds and applies the bounds.
__device__ __forceinline__ Pair finish_sums(const HalfBounds& bounds, const Sums& sums) {
  unsigned upper[4], lower[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    upper[j] = finish_pair(bounds, sums[j][0], sums[j][1]);
    lower[j] = finish_pair(bounds, sums[j][2], sums[j][3]);
  }
  return {{upper[0], upper[1], upper[2], upper[3]}, {lower[0], lower[1], lower[2], lower[3]}};
}

// `at`: a lane's 8 channels of the upper row.
__device__ __forceinline__ void store_rows(There there, const Pair& y, __half* at, int channels) {
  if (there.upper) store_vector(at, y.upper);
  if (there.lower) store_vector(at + 8 * channels, y.lower);
}
__device__ __forceinline__ void load_rows(There there, const __half* at, int channels, Pair& to) {
  if (there.upper) to.upper = load_vector(at);
  if (there.lower) to.lower = load_vector(at + 8 * channels);
}

}  // namespace proa::engine::cuda::block_end
