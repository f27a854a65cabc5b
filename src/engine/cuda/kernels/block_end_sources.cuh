// Where a warp's tiles get what they read around the end of a residual block.
#pragma once

#include "engine/cuda/kernels/block_end.cuh"

namespace proa::engine::cuda::block_end {

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

// A source brings what a warp reads for the tiles that it has under way: begin() their inputs,
// add_residual_to() the residual of 32 channels after the other. `row` is a lane's first pixel,
// `at` where its numbers of the channels that come next are.

// Straight from memory: inputs at once, the residual while the channels before are made.
template <int kTiles, int kSteps, int kNext>
class FromMemory {
 public:
  static constexpr int kWarpBytes = 0;

  __device__ __forceinline__ FromMemory(const BlockEnd&, unsigned char*, int, int, int) {}

  __device__ __forceinline__ void begin(const BlockEnd& e, int row, std::int64_t at, int own,
                                        Pair (&x)[kSteps][kTiles]) {
    InputRows inputs[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; ++i) inputs[i] = InputRows(e, row + i * kTilePixels, own);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int i = 0; i < kTiles; ++i) x[s][i] = inputs[i].load(s);
    }
    if (has_residual<kNext>(e)) load(e, row, at);
  }
  // More channels follow when `more`.
  __device__ __forceinline__ void add_residual_to(const BlockEnd& e, int row, std::int64_t at,
                                                  bool more, Sums (&sums)[kTiles]) {
    if (!has_residual<kNext>(e)) return;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) add_residual(residual_[i], sums[i]);
    if (more) load(e, row, at + kGroup);
  }

 private:
  __device__ __forceinline__ void load(const BlockEnd& e, int row, std::int64_t at) {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      load_rows(there_are(e, row + i * kTilePixels), e.residual + at + i * kTilePixels * e.outputs,
                e.outputs, residual_[i]);
    }
  }

  Pair residual_[kTiles]{};
};

// Groups of 32 channels that are fetched before they are made; y must have as many, or the inputs
// of a tile would be overwritten before they are read.
constexpr int kGroupsAhead = 4;

// From shared memory, where it is brought ahead of time: the residual (where kResidual) of the next
// groups, and the inputs of a tile along with its first. Each lane copies what it reads itself, so
// that nobody waits for another.
template <int kTiles, int kSteps, int kNext, bool kResidual>
class Ahead {
  // What the lanes hold of a vector, and of 32 channels of all tiles.
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
  __device__ __forceinline__ void add_residual_to(const BlockEnd& e, int, std::int64_t, bool,
                                                  Sums (&sums)[kTiles]) {
    if (reads_residual(e)) {
      __pipeline_wait_prior(kGroupsAhead - 1);
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        add_residual(pair_at(mine_ + kSteps * kSlot + slot_ + i * 2 * kVector), sums[i]);
      }
    }
    fetch(e);
  }

 private:
  static __device__ __forceinline__ bool reads_residual(const BlockEnd& e) {
    return kResidual && has_residual<kNext>(e);
  }
  static __device__ __forceinline__ Pair pair_at(const unsigned char* at) {
    return {*reinterpret_cast<const uint4*>(at), *reinterpret_cast<const uint4*>(at + kVector)};
  }

  // What is made kGroupsAhead later, to where what was made last was read.
  __device__ __forceinline__ void fetch(const BlockEnd& e) {
    if (row_ - row_ % 8 < e.pixels) {
      if (c_ == 0) fetch_inputs(e);
      if (reads_residual(e)) fetch_residual(e);
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

}  // namespace proa::engine::cuda::block_end
