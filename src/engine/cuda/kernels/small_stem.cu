// The first convolution of a picture network without a pool behind it: 3x3, FP16 with FP32 sums,
// straight from the picture. A thread makes 16 channels of one pixel; the threads of a warp share
// the channels, so that weights come from shared memory as broadcasts.
#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kChannels = 16;  // of a thread
constexpr int kMostOutputs = 64;
constexpr int kPacked = 4;  // channels of the weights

struct SmallStem {
  const void* x;
  const __half* weight;  // [k, 3, 3, 4]
  const float* bias;
  const float* scale;  // null: none; shift too
  const float* shift;
  __half* y;
  StemShape shape;
  Finish finish;
};

template <class Number>
__device__ __forceinline__ float as_float(Number number) {
  return static_cast<float>(number);
}
template <>
__device__ __forceinline__ float as_float(__half number) {
  return __half2float(number);
}

// One number of the picture as the packed FP16 tensor would hold it.
template <class Number>
__device__ __forceinline__ float picture_number(const SmallStem& s, std::int64_t n, int h, int w,
                                                int c) {
  const StemShape& shape = s.shape;
  const std::int64_t at = shape.planes ? ((n * shape.c + c) * shape.h + h) * shape.w + w
                                       : ((n * shape.h + h) * shape.w + w) * shape.c + c;
  float number = as_float(static_cast<const Number*>(s.x)[at]);
  if (s.scale != nullptr) number *= s.scale[c];
  if (s.shift != nullptr) number += s.shift[c];
  return __half2float(__float2half_rn(number));
}

__device__ __forceinline__ void add_products(float number, const float* weights,
                                             float (&sums)[kChannels]) {
  const auto* four = reinterpret_cast<const float4*>(weights);
#pragma unroll
  for (int i = 0; i < kChannels / 4; ++i) {
    const float4 w = four[i];
    sums[4 * i] = fmaf(number, w.x, sums[4 * i]);
    sums[4 * i + 1] = fmaf(number, w.y, sums[4 * i + 1]);
    sums[4 * i + 2] = fmaf(number, w.z, sums[4 * i + 2]);
    sums[4 * i + 3] = fmaf(number, w.w, sums[4 * i + 3]);
  }
}

template <class Number>
__global__ void __launch_bounds__(kThreads) small_stem_kernel(SmallStem s) {
  __shared__ __align__(16) float weights[9 * kPacked][kMostOutputs];
  const StemShape& shape = s.shape;
  allow_next();
  for (int i = static_cast<int>(threadIdx.x); i < shape.k * 9 * kPacked; i += kThreads) {
    weights[i % (9 * kPacked)][i / (9 * kPacked)] = __half2float(s.weight[i]);
  }
  __syncthreads();
  wait_for_previous();
  const int groups = shape.k / kChannels;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int first = warp % groups * kChannels;
  const std::int64_t pixel =
      (static_cast<std::int64_t>(blockIdx.x) * (kThreads / kWarp / groups) + warp / groups) *
          kWarp +
      static_cast<int>(threadIdx.x) % kWarp;
  const int q = static_cast<int>(pixel % shape.conv_w);
  const int p = static_cast<int>(pixel / shape.conv_w % shape.conv_h);
  const std::int64_t n = pixel / shape.conv_w / shape.conv_h;
  if (n >= shape.n) return;
  float sums[kChannels];
#pragma unroll
  for (int i = 0; i < kChannels; ++i) sums[i] = s.bias[first + i];
#pragma unroll
  for (int r = 0; r < 3; ++r) {
    const int h = p * shape.stride - shape.pad_h + r;
    if (h < 0 || h >= shape.h) continue;
#pragma unroll
    for (int t = 0; t < 3; ++t) {
      const int w = q * shape.stride - shape.pad_w + t;
      if (w < 0 || w >= shape.w) continue;
      for (int c = 0; c < shape.c; ++c) {
        add_products(picture_number<Number>(s, n, h, w, c),
                     &weights[(r * 3 + t) * kPacked + c][first], sums);
      }
    }
  }
  uint4 packed[2];
  auto* pairs = reinterpret_cast<__half2*>(packed);
#pragma unroll
  for (int i = 0; i < kChannels / 2; ++i) {
    pairs[i] = __floats2half2_rn(finish(s.finish, sums[2 * i]), finish(s.finish, sums[2 * i + 1]));
  }
  auto* to = reinterpret_cast<uint4*>(s.y + pixel * shape.k + first);
  to[0] = packed[0];
  to[1] = packed[1];
}

}  // namespace

cudaError_t launch_small_stem(Source x, const void* weight, const float* bias, const float* scale,
                              const float* shift, Activation act, void* y, const StemShape& shape,
                              cudaStream_t stream) {
  const SmallStem s{x.data, static_cast<const __half*>(weight),
                    bias,   scale,
                    shift,  static_cast<__half*>(y),
                    shape,  finish_of(act)};
  const std::int64_t pixels = static_cast<std::int64_t>(shape.n) * shape.conv_h * shape.conv_w;
  const int groups = shape.k / kChannels;
  const std::int64_t a_block = kThreads / kWarp / groups * kWarp;
  const dim3 grid(static_cast<unsigned>((pixels + a_block - 1) / a_block));
  switch (x.type) {
    case Number::kFloat:
      return launch_grid(small_stem_kernel<float>, grid, kThreads, 0, stream, s);
    case Number::kHalf:
      return launch_grid(small_stem_kernel<__half>, grid, kThreads, 0, stream, s);
    case Number::kUint8:
      return launch_grid(small_stem_kernel<std::uint8_t>, grid, kThreads, 0, stream, s);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace proa::engine::cuda
