// For kernels that make the picture of a depthwise convolution themselves: a block makes the part
// that it needs in shared memory, 32 channels at a time, and convolves it from there.
#pragma once

#include "engine/cuda/kernels/depthwise.cuh"
#include "engine/cuda/kernels/matrix.cuh"

namespace proa::engine::cuda {

constexpr int kTileChannels = 32;
constexpr int kTileVectors = kTileChannels / 8;  // 16-byte pieces of a pixel

// What a block sees: the results at (p, q) of picture n, and the pixels that they read, of which
// `rows` x `columns` from (first_row, first_column) on lie inside of the picture.
struct Window {
  int n, p, q;
  int height, width;  // of all pixels, padding included
  int top, left;      // where they begin in the picture; may be outside
  int first_row, first_column, rows, columns;

  __device__ __forceinline__ int inside() const { return rows * columns; }
};

// Of tile number `tile` of the batch.
template <int K, int S>
__device__ __forceinline__ Window window_of(const DepthwiseShape& s, int tile_h, int tile_w,
                                            int tile) {
  const int across = (s.q + tile_w - 1) / tile_w, down = (s.p + tile_h - 1) / tile_h;
  Window w;
  w.n = tile / across / down;
  w.p = tile / across % down * tile_h;
  w.q = tile % across * tile_w;
  w.height = (tile_h - 1) * S + K;
  w.width = (tile_w - 1) * S + K;
  w.top = w.p * S - s.pad_h;
  w.left = w.q * S - s.pad_w;
  w.first_row = max(w.top, 0);
  w.first_column = max(w.left, 0);
  w.rows = max(min(w.top + w.height, s.h) - w.first_row, 0);
  w.columns = max(min(w.left + w.width, s.w) - w.first_column, 0);
  return w;
}

// Zeros where the window lies outside of the picture.
__device__ __forceinline__ void clear_border(const Window& w, uint4* tile) {
  if (w.rows == w.height && w.columns == w.width) return;
  const Divider width(w.width);
  for (int i = static_cast<int>(threadIdx.x); i < w.height * w.width;
       i += static_cast<int>(blockDim.x)) {
    const int row = width.divide(i), column = i - row * w.width;
    const int h = w.top + row - w.first_row, v = w.left + column - w.first_column;
    if (h >= 0 && h < w.rows && v >= 0 && v < w.columns) continue;
#pragma unroll
    for (int k = 0; k < kTileVectors; ++k) tile[i * kTileVectors + k] = make_uint4(0, 0, 0, 0);
  }
}

// What lies between the two convolutions: bounds and how they are best applied.
struct Between {
  float low, high;  // no NaN
  bool relu;        // low is 0
};
inline Between between_of(const Finish& first, float input_max) {
  return {first.low, first.high < input_max ? first.high : input_max, first.low == 0};
}

// The sums that a lane holds of four matrix products, 8 neighbouring channels of two pixels, as
// halves into the tile: of pixels `first` + lane / 4 and 8 further, counted inside of the picture.
__device__ __forceinline__ void store_products(const Between& between, const Window& w, int first,
                                               const float (&sums)[4][4], const Divider& row_of,
                                               uint4* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int corner = (w.first_row - w.top) * w.width + w.first_column - w.left;
  const __half2 low = __float2half2_rn(between.low), high = __float2half2_rn(between.high);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int pixel = first + half * 8 + lane / 4;
    if (pixel >= w.inside()) continue;
    uint4 packed;
    auto* pairs = reinterpret_cast<__half2*>(&packed);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float a = sums[j][2 * half], b = sums[j][2 * half + 1];
      pairs[j] =
          __hmin2(between.relu ? relu_pair(a, b) : __hmax2(__floats2half2_rn(a, b), low), high);
    }
    const int at = corner + pixel + row_of.divide(pixel) * (w.width - w.columns);
    tile[at * kTileVectors + lane % 4] = packed;
  }
}

inline int tiles_of(const DepthwiseShape& s, int tile_h, int tile_w) {
  return s.n * ((s.p + tile_h - 1) / tile_h) * ((s.q + tile_w - 1) / tile_w);
}

// Convolves the tile, whose channels begin at `channel`: threads take TH x TW results of 8
// channels.
template <int K, int S, int TH, int TW>
__device__ __forceinline__ void convolve_tile(const Depthwise& d, const Window& w, int tile_h,
                                              int tile_w, int channel, const float* weights,
                                              const uint4* tile) {
  const int across = tile_w / TW;
  const int items = tile_h / TH * across * kTileVectors;
  const Divider columns(across);
  for (int i = static_cast<int>(threadIdx.x); i < items; i += static_cast<int>(blockDim.x)) {
    const int vector = i % kTileVectors, worker = i / kTileVectors;
    const int row = columns.divide(worker);
    const int h = row * TH, v = (worker - row * across) * TW, c = channel + vector * 8;
    if (c >= d.shape.c || w.p + h >= d.shape.p || w.q + v >= d.shape.q) continue;
    const uint4* corner = tile + (h * S * w.width + v * S) * kTileVectors + vector;
    const auto fetch = [&](int r, int t) { return corner[(r * w.width + t) * kTileVectors]; };
    float sums[TH][TW][8];
    begin_sums<8, TH, TW>(d, c, sums);
    if constexpr (TH == 1) {  // shared memory is near: no need to hold a row of pixels
#pragma unroll
      for (int r = 0; r < K; ++r) {
        add_row<K, S, 8, TW, false>(
            d, weights + vector * 8, r, [&](int j) { return fetch(r, j); }, sums[0]);
      }
    } else {
      convolve<K, S, 8, TH, TW, false>(d, weights + vector * 8, fetch, sums);
    }
    write_sums<8, TH, TW>(d, w.n, w.p + h, w.q + v, c, sums);
  }
}

}  // namespace proa::engine::cuda
