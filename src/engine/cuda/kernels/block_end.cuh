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

// What a lane reads of its two pixels of a tile: the channels of the first input, then those of the
// second. A pixel behind the last is read as the last.
class InputRows {
 public:
  InputRows() = default;
  __device__ __forceinline__ InputRows(const BlockEnd& e, int row, int own)
      : first_steps_(e.first.channels / 32) {
    const int upper = min(row, e.pixels - 1), lower = min(row + 8, e.pixels - 1);
    second_upper_ = upper_ = pixel_of(e.first, e, upper) + own;
    second_lower_ = lower_ = pixel_of(e.first, e, lower) + own;
    if (e.second.channels == 0) return;
    second_upper_ = pixel_of(e.second, e, upper) + own - e.first.channels;
    second_lower_ = pixel_of(e.second, e, lower) + own - e.first.channels;
  }
  // Of step `s`: 32 channels of a warp.
  __device__ __forceinline__ Pair load(int s) const {
    const bool first = s < first_steps_;
    return {load_vector((first ? upper_ : second_upper_) + s * 32),
            load_vector((first ? lower_ : second_lower_) + s * 32)};
  }
  // The lower one `apart` bytes behind the upper.
  __device__ __forceinline__ void copy(int s, unsigned char* to, int apart) const {
    const bool first = s < first_steps_;
    __pipeline_memcpy_async(to, (first ? upper_ : second_upper_) + s * 32, 16);
    __pipeline_memcpy_async(to + apart, (first ? lower_ : second_lower_) + s * 32, 16);
  }

 private:
  int first_steps_;
  const __half *upper_, *lower_, *second_upper_, *second_lower_;
};

// Whether there are a lane's pixels of a tile whose upper one is `row`.
__device__ __forceinline__ There there_are(const BlockEnd& e, int row) {
  return {row < e.pixels, row + 8 < e.pixels};
}

// A sum that no convolution here reads has a second input instead.
template <int kNext>
__device__ __forceinline__ bool has_residual(const BlockEnd& e) {
  return kNext > 0 && e.residual != nullptr;
}

// What a lane reads for the tiles that its warp has under way: all that they read of their inputs
// at once, and the residual of 32 channels while those before are made.
template <int kTiles, int kSteps, int kNext>
class FromMemory {
 public:
  // `row`: the lane's first pixel. `at`: where its first number of the sum is.
  __device__ __forceinline__ void begin(const BlockEnd& e, int row, std::int64_t at, int own,
                                        Pair (&x)[kSteps > 0 ? kSteps : 1][kTiles]) {
    InputRows inputs[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) inputs[i] = InputRows(e, row + i * kTilePixels, own);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int i = 0; i < kTiles; ++i) x[s][i] = inputs[i].load(s);
    }
    row_ = row, at_ = at;
    if (has_residual<kNext>(e)) load(e);
  }
  // To the sums of the next 32 channels. More follow when `more`.
  __device__ __forceinline__ void add_residual_to(const BlockEnd& e, bool more,
                                                  Sums (&sums)[kTiles]) {
    if (!has_residual<kNext>(e)) return;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) add_residual(residual_[i], sums[i]);
    at_ += kGroup;
    if (more) load(e);
  }

 private:
  __device__ __forceinline__ void load(const BlockEnd& e) {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      load_rows(there_are(e, row_ + i * kTilePixels),
                e.residual + at_ + i * kTilePixels * e.outputs, e.outputs, residual_[i]);
    }
  }

  int row_ = 0;
  std::int64_t at_ = 0;
  Pair residual_[kTiles]{};
};

// How many times 32 channels before they are made. A tile's inputs come when those of the one
// before have been read, so y must have as many.
constexpr int kGroupsAhead = 4;

// The same on its way to shared memory ahead of time: the residual, if there is one, and a tile's
// inputs along with its first. Each lane copies what it reads itself, so that nobody waits for
// another.
template <int kTiles, int kSteps, int kNext, bool kResidual>
class Ahead {
  // What lanes hold of a vector, and of 32 channels of all tiles.
  static constexpr int kVector = 32 * 16, kSlot = 2 * kTiles * kVector;

 public:
  static constexpr int kWarpBytes = (kSteps + (kResidual ? kGroupsAhead : 0)) * kSlot;

  // `of_warp`: kWarpBytes of shared memory. `tile`: the warp's first; `step` tiles lie between it
  // and its next.
  __device__ __forceinline__ Ahead(const BlockEnd& e, unsigned char* of_warp, int lane, int tile,
                                   int step)
      : own_(own_channel(lane)),
        row_(tile * kTilePixels + lane / 4),
        row_step_(step * kTilePixels),
        mine_(of_warp + lane * 16) {
#pragma unroll
    for (int i = 0; i < kGroupsAhead; ++i) fetch(e);
  }
  __device__ __forceinline__ void begin(const BlockEnd&, int, std::int64_t, int,
                                        Pair (&x)[kSteps][kTiles]) {
    __pipeline_wait_prior(kGroupsAhead - 1);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int i = 0; i < kTiles; ++i) x[s][i] = pair_at(mine_ + s * kSlot + i * 2 * kVector);
    }
  }
  __device__ __forceinline__ void add_residual_to(const BlockEnd& e, bool, Sums (&sums)[kTiles]) {
    if (kResidual && e.residual != nullptr) {
      __pipeline_wait_prior(kGroupsAhead - 1);
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        add_residual(pair_at(mine_ + kSteps * kSlot + slot_ + i * 2 * kVector), sums[i]);
      }
    }
    fetch(e);
  }

 private:
  static __device__ __forceinline__ Pair pair_at(const unsigned char* at) {
    return {*reinterpret_cast<const uint4*>(at), *reinterpret_cast<const uint4*>(at + kVector)};
  }

  // What is made kGroupsAhead later, to where what was made last was read.
  __device__ __forceinline__ void fetch(const BlockEnd& e) {
    if (row_ - row_ % 8 < e.pixels) {
      if (c_ == 0) fetch_inputs(e);
      if (kResidual && e.residual != nullptr) fetch_residual(e);
    }
    __pipeline_commit();
    slot_ = slot_ + kSlot < kGroupsAhead * kSlot ? slot_ + kSlot : 0;
    c_ += kGroup;
    if (c_ == e.outputs) c_ = 0, row_ += row_step_;
  }
  __device__ __forceinline__ void fetch_inputs(const BlockEnd& e) {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      const InputRows rows(e, row_ + i * kTilePixels, own_);
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        rows.copy(s, mine_ + s * kSlot + i * 2 * kVector, kVector);
      }
    }
  }
  __device__ __forceinline__ void fetch_residual(const BlockEnd& e) {
    const __half* from = e.residual + static_cast<std::int64_t>(row_) * e.outputs + c_ + own_;
    unsigned char* to = mine_ + kSteps * kSlot + slot_;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      const There there = there_are(e, row_ + i * kTilePixels);
      if (there.upper) __pipeline_memcpy_async(to, from, 16);
      if (there.lower) __pipeline_memcpy_async(to + kVector, from + 8 * e.outputs, 16);
      from += kTilePixels * e.outputs, to += 2 * kVector;
    }
  }

  int own_, row_, row_step_;  // the lane's first channel of every 32, and pixel that comes next
  int c_ = 0, slot_ = 0;      // the channel that comes next, and where to
  unsigned char* mine_;
};

// The registers of a warp decide how many threads a block may have.
constexpr int most_threads(int tiles, int steps, int next_groups) {
  if (tiles > 1) return 256;
  return 8 * steps + 16 * next_groups <= 64 ? 512 : 384;
}

// The pixels that a warp has under way, 16 a tile, as a lane has them. kSteps: 32 channels each, of
// both inputs; 0: any number, read again for every 32 channels. kNext: 32 channels each, of the
// next convolution.
template <int kTiles, int kSteps, int kNext>
class Tiles {
 public:
  // Of all tiles, those from `first` on. `c`: the first channel that is made.
  template <class Source>
  __device__ __forceinline__ Tiles(const BlockEnd& e, int first, int c, int lane,
                                   const float* next_bias, Source& source)
      : own_(own_channel(lane)),
        row_(first * kTilePixels + lane / 4),
        at_(static_cast<std::int64_t>(row_) * e.outputs + c + own_),
        bounds_(half_bounds(e.finish)) {
    if constexpr (kSteps > 0) {
      // All that is read, before the first of it is waited for.
      Pair x[kSteps][kTiles];
      source.begin(e, row_, at_, own_, x);
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
#pragma unroll
        for (int i = 0; i < kTiles; ++i) x_[s][i] = only(there(e, i), fragment_of(x[s][i]));
      }
    } else {
#pragma unroll
      for (int i = 0; i < kTiles; ++i) inputs_[i] = InputRows(e, row_ + i * kTilePixels, own_);
    }
#pragma unroll
    for (int g = 0; g < kNext; ++g) {
#pragma unroll
      for (int i = 0; i < kTiles; ++i) begin_sums(next_bias + g * kGroup + own_, after_sums_[g][i]);
    }
  }

  // Makes the next 32 channels of their bias and their weights, a group. More follow when `more`.
  template <class Source>
  __device__ __forceinline__ void make(const BlockEnd& e, int lane, bool more, const float* bias,
                                       const unsigned char* group, Source& source) {
    const int pitch = pitch_of(channels(e));
    Sums sums[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) begin_sums(bias + own_, sums[i]);
    multiply_inputs(e, group + row_offset(lane, pitch), pitch, sums);
    __half* to = e.y + at_;
    at_ += kGroup;
    source.add_residual_to(e, more, sums);
    Pair y[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) y[i] = finish_sums(bounds_, sums[i]);
    if (e.y != nullptr) store(e, y, to, e.outputs);
    Fragment read[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      read[i] = fragment_of(y[i]);
      if (kRegistersLeft) read[i] = only(there(e, i), read[i]);
    }
    const unsigned char* after = group + kGroup * pitch + row_offset(lane, kNextPitch);
#pragma unroll
    for (int g = 0; g < kNext; ++g) {
      multiply_group(after_sums_[g], read, after + g * kGroup * kNextPitch, kNextPitch);
    }
  }

  __device__ __forceinline__ void end(const BlockEnd& e) {
    constexpr int kOutputs = kNext * kGroup;
    const HalfBounds bounds = half_bounds(e.next_finish);
    __half* to = e.z + static_cast<std::int64_t>(row_) * kOutputs + own_;
#pragma unroll
    for (int g = 0; g < kNext; ++g) {
      Pair z[kTiles];
#pragma unroll
      for (int i = 0; i < kTiles; ++i) z[i] = finish_sums(bounds, after_sums_[g][i]);
      store(e, z, to + g * kGroup, kOutputs);
    }
  }

  // Of both inputs.
  static __device__ __forceinline__ int channels(const BlockEnd& e) {
    return kSteps > 0 ? kSteps * 32 : e.first.channels + e.second.channels;
  }

 private:
  // For the sum in two orders at once; a block of more threads has none left.
  static constexpr bool kRegistersLeft = kTiles > 1 && 8 * kSteps + 16 * kNext <= 64;

  // Whether there are the lane's pixels of tile `i`.
  __device__ __forceinline__ There there(const BlockEnd& e, int i) const {
    return there_are(e, row_ + i * kTilePixels);
  }

  __device__ __forceinline__ void store(const BlockEnd& e, const Pair (&y)[kTiles], __half* to,
                                        int channels) const {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      store_rows(there(e, i), y[i], to + i * kTilePixels * channels, channels);
    }
  }

  __device__ __forceinline__ void multiply_inputs(const BlockEnd& e, const unsigned char* weights,
                                                  int pitch, Sums (&sums)[kTiles]) const {
    if constexpr (kSteps > 0) {
#pragma unroll
      for (int s = 0; s < kSteps; ++s) multiply_group(sums, x_[s], weights + s * 64, pitch);
    } else {
      const int steps = channels(e) / 32;
#pragma unroll 8
      for (int s = 0; s < steps; ++s) {
        Fragment x[kTiles];
#pragma unroll
        for (int i = 0; i < kTiles; ++i) x[i] = only(there(e, i), fragment_of(inputs_[i].load(s)));
        multiply_group(sums, x, weights + s * 64, pitch);
      }
    }
  }

  int own_, row_;    // the lane's first channel of every 32, and its first pixel
  std::int64_t at_;  // where its numbers of the channels that come next are in y
  HalfBounds bounds_;
  InputRows inputs_[kTiles];
  Fragment x_[kSteps > 0 ? kSteps : 1][kTiles];
  Sums after_sums_[kNext > 0 ? kNext : 1][kTiles];
};

}  // namespace proa::engine::cuda::block_end
