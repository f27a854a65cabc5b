// The arithmetic of depthwise convolutions, NHWC FP16 with FP32 sums, for the kernels that differ
// in how the picture comes to a thread.
#pragma once

#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {

struct Depthwise {
  const __half* x;       // null where the kernel makes it itself
  const __half* weight;  // [c, K, K]
  const float* bias;     // null: none
  __half* y;
  DepthwiseShape shape;
  Finish finish;
  __half2 input_max;  // infinity: none
  int chunk;          // channels of a block
};

// What a kernel gets of `work`; the picture is still missing.
inline Depthwise depthwise_of(const DepthwiseWork& work, int chunk) {
  return {nullptr,
          static_cast<const __half*>(work.weight),
          work.bias,
          static_cast<__half*>(work.y),
          work.shape,
          finish_of(work.act),
          __float2half2_rn(work.input_max),
          chunk};
}

template <int V>
struct Packed;
template <>
struct Packed<8> {
  using Type = uint4;
};
template <>
struct Packed<4> {
  using Type = uint2;
};
template <>
struct Packed<2> {
  using Type = unsigned;
};

// V floats from an address that is aligned to them (to 16 bytes at most).
template <int V>
__device__ __forceinline__ void load_floats(const float* from, float* to) {
  if constexpr (V == 2) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x, to[1] = pair.y;
  } else {
#pragma unroll
    for (int i = 0; i < V; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + i);
      to[i] = four.x, to[i + 1] = four.y, to[i + 2] = four.z, to[i + 3] = four.w;
    }
  }
}

// Clips V packed numbers from above, unless they are known to be (kClip), and widens them.
template <int V, bool kClip>
__device__ __forceinline__ void widen(const typename Packed<V>::Type& packed, __half2 most,
                                      float* to) {
  const auto* pairs = reinterpret_cast<const __half2*>(&packed);
#pragma unroll
  for (int i = 0; i < V / 2; ++i) {
    const float2 pair = __half22float2(kClip ? __hmin2(pairs[i], most) : pairs[i]);
    to[2 * i] = pair.x;
    to[2 * i + 1] = pair.y;
  }
}

// The weights of `channels` channels from `first` on in shared memory, as [chunk of
// them][tap][chunk] floats. They are constants: this may run before the kernel in front has ended.
template <int K, int kChunk = 0>
__device__ __forceinline__ void load_weights(const Depthwise& d, int first, int channels,
                                             float* weights) {
  constexpr int kTaps = K * K, kAtOnce = 4;  // loads in flight
  const int total = min(channels, d.shape.c - first) * kTaps;
  const int step = static_cast<int>(blockDim.x);
  const __half* from = d.weight + static_cast<std::int64_t>(first) * kTaps;
  for (int base = static_cast<int>(threadIdx.x); base < total; base += kAtOnce * step) {
    __half numbers[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int i = base + j * step;
      if (i < total) numbers[j] = from[i];
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const int i = base + j * step, channel = i / kTaps, tap = i % kTaps;
      if (i >= total) break;
      const int chunk = kChunk == 0 ? 0 : channel / max(kChunk, 1);
      weights[(chunk * kTaps + tap) * d.chunk + channel - chunk * d.chunk] =
          __half2float(numbers[j]);
    }
  }
}

// Adds what one row of pixels contributes through row `r` of the kernel: every pixel is widened
// once and goes into all sums that it touches. `pixel_at(j)` gives V packed numbers.
template <int K, int S, int V, int TW, bool kClip, class PixelAt>
__device__ __forceinline__ void add_row(const Depthwise& d, const float* weights, int r,
                                        const PixelAt& pixel_at, float (&sums)[TW][V]) {
  float w[K][V];
#pragma unroll
  for (int t = 0; t < K; ++t) load_floats<V>(weights + (r * K + t) * d.chunk, w[t]);
#pragma unroll
  for (int j = 0; j < (TW - 1) * S + K; ++j) {
    float pixel[V];
    widen<V, kClip>(pixel_at(j), d.input_max, pixel);
#pragma unroll
    for (int t = 0; t < K; ++t) {
      if (j < t || (j - t) % S != 0 || (j - t) / S >= TW) continue;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        float& sum = sums[(j - t) / S][v];
        sum = fmaf(pixel[v], w[t][v], sum);
      }
    }
  }
}

// Sums of one thread's tile: `fetch(i, j)` gives V packed numbers of the picture, zeros outside.
// A row is fetched as a whole, so that its loads are in flight together.
template <int K, int S, int V, int TH, int TW, bool kClip = true, class Fetch>
__device__ __forceinline__ void convolve(const Depthwise& d, const float* weights,
                                         const Fetch& fetch, float (&sums)[TH][TW][V]) {
  constexpr int kRows = (TH - 1) * S + K, kColumns = (TW - 1) * S + K;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    typename Packed<V>::Type row[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) row[j] = fetch(i, j);
#pragma unroll
    for (int h = 0; h < TH; ++h) {
      const int r = i - h * S;
      if (r < 0 || r >= K) continue;
      add_row<K, S, V, TW, kClip>(d, weights, r, [&](int j) { return row[j]; }, sums[h]);
    }
  }
}

template <int V, int TH, int TW>
__device__ __forceinline__ void begin_sums(const Depthwise& d, int c, float (&sums)[TH][TW][V]) {
  float bias[V] = {};
  if (d.bias != nullptr) load_floats<V>(d.bias + c, bias);
#pragma unroll
  for (int h = 0; h < TH; ++h) {
#pragma unroll
    for (int w = 0; w < TW; ++w) {
#pragma unroll
      for (int v = 0; v < V; ++v) sums[h][w][v] = bias[v];
    }
  }
}

template <int V, int TH, int TW>
__device__ __forceinline__ void write_sums(const Depthwise& d, int n, int p, int q, int c,
                                           float (&sums)[TH][TW][V]) {
  if (!d.finish.bounds) {
#pragma unroll
    for (int i = 0; i < TH * TW * V; ++i) {
      float& sum = sums[i / V / TW][i / V % TW][i % V];
      sum = finish_by_call(d.finish.act, sum);
    }
  }
  const HalfBounds bounds = half_bounds(d.finish);
  __half* corner =
      d.y + ((static_cast<std::int64_t>(n) * d.shape.p + p) * d.shape.q + q) * d.shape.c + c;
#pragma unroll
  for (int h = 0; h < TH; ++h) {
#pragma unroll
    for (int w = 0; w < TW; ++w) {
      if (p + h >= d.shape.p || q + w >= d.shape.q) continue;
      typename Packed<V>::Type packed;
      auto* pairs = reinterpret_cast<__half2*>(&packed);
#pragma unroll
      for (int i = 0; i < V / 2; ++i) {
        pairs[i] = clamp_pair(__floats2half2_rn(sums[h][w][2 * i], sums[h][w][2 * i + 1]), bounds);
      }
      *reinterpret_cast<typename Packed<V>::Type*>(corner + (h * d.shape.q + w) * d.shape.c) =
          packed;
    }
  }
}

}  // namespace proa::engine::cuda
