// The tiles that a warp has under way around the end of a residual block.
#pragma once

#include "engine/cuda/kernels/block_end_sources.cuh"

namespace proa::engine::cuda::block_end {

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
  static_assert(kSteps > 0 || kNext == 0, "what is read again has no residual");

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
    source.add_residual_to(e, row_, at_, more, sums);
    __half* to = e.y + at_;
    at_ += kGroup;
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
