#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kVectors = 8;  // of 8 channels, side by side in a block
constexpr int kRows = 32;    // threads that share the pixels of one vector

// A block sums 64 channels of one picture: each thread every 32nd pixel of 8 channels, then the
// rows are added in shared memory.
__global__ void spatial_mean_kernel(const uint4* x, uint4* y, int inner, int vectors, int groups,
                                    __half2 most) {
  wait_for_inputs();
  const int n = static_cast<int>(blockIdx.x) / groups;
  const int column = static_cast<int>(threadIdx.x) % kVectors;
  const int row = static_cast<int>(threadIdx.x) / kVectors;
  const int c = static_cast<int>(blockIdx.x) % groups * kVectors + column;
  float sums[8] = {};
  if (c < vectors) {
    for (int i = row; i < inner; i += kRows) {
      const uint4 packed = x[(static_cast<std::int64_t>(n) * inner + i) * vectors + c];
      const auto* pairs = reinterpret_cast<const __half2*>(&packed);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float2 pair = __half22float2(__hmin2(pairs[k], most));
        sums[2 * k] += pair.x;
        sums[2 * k + 1] += pair.y;
      }
    }
  }
  __shared__ float shared[kRows][kVectors][9];  // 9: rows start in different banks
#pragma unroll
  for (int k = 0; k < 8; ++k) shared[row][column][k] = sums[k];
  __syncthreads();
  if (row != 0 || c >= vectors) return;
  for (int other = 1; other < kRows; ++other) {
#pragma unroll
    for (int k = 0; k < 8; ++k) sums[k] += shared[other][column][k];
  }
  uint4 packed;
  auto* pairs = reinterpret_cast<__half2*>(&packed);
  const float scale = 1.0f / static_cast<float>(inner);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    pairs[k] = __floats2half2_rn(sums[2 * k] * scale, sums[2 * k + 1] * scale);
  }
  y[static_cast<std::int64_t>(n) * vectors + c] = packed;
}

}  // namespace

cudaError_t launch_spatial_mean(const void* x, void* y, int n, int inner, int c, float input_max,
                                cudaStream_t stream) {
  const int vectors = c / 8;
  const int groups = (vectors + kVectors - 1) / kVectors;
  constexpr int kBlock = kVectors * kRows;
  return launch(spatial_mean_kernel, static_cast<std::int64_t>(n) * groups * kBlock, kBlock, stream,
                static_cast<const uint4*>(x), static_cast<uint4*>(y), inner, vectors, groups,
                __float2half2_rn(input_max));
}

}  // namespace proa::engine::cuda
