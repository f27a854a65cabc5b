#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

__device__ __forceinline__ float block_sum(float number) {
  __shared__ float warps[32];
  for (int step = 16; step > 0; step /= 2) number += __shfl_down_sync(0xffffffffu, number, step);
  __syncthreads();  // a second call may still read the first one's numbers
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = number;
  __syncthreads();
  float sum = 0;
  for (unsigned i = 0; i < blockDim.x / 32; ++i) sum += warps[i];
  return sum;
}

__global__ void compare_kernel(Source a, Source b, std::int64_t count, float* sums) {
  wait_for_inputs();
  float difference = 0, size = 0, strange = 0;
  for (std::int64_t i = thread_index(); i < count;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const float x = load(a, i), y = load(b, i);
    if (!isfinite(x) || !isfinite(y)) {
      strange += isfinite(x) != isfinite(y) ? 1.0f : 0.0f;
      continue;
    }
    difference += (x - y) * (x - y);
    size += y * y;
  }
  difference = block_sum(difference);
  size = block_sum(size);
  strange = block_sum(strange);
  if (threadIdx.x != 0) return;
  atomicAdd(&sums[0], difference);
  atomicAdd(&sums[1], size);
  atomicAdd(&sums[2], strange);
}

__device__ __forceinline__ unsigned mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return static_cast<unsigned>((z ^ (z >> 31)) >> 40);
}

__global__ void random_kernel(void* y, Number type, std::int64_t count, float low, float high,
                              std::uint64_t seed) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const float unit = static_cast<float>(mixed(
                         (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15ull + seed)) *
                     0x1p-24f;
  store(y, type, i, low + (high - low) * unit);
}

}  // namespace

cudaError_t launch_compare(Source a, Source b, std::int64_t count, float* sums,
                           cudaStream_t stream) {
  const std::int64_t threads = count < 256 * 1024 ? count : 256 * 1024;
  return launch(compare_kernel, threads, 256, stream, a, b, count, sums);
}

cudaError_t launch_random(void* y, Number type, std::int64_t count, float low, float high,
                          std::uint64_t seed, cudaStream_t stream) {
  return launch(random_kernel, count, 256, stream, y, type, count, low, high, seed);
}

}  // namespace proa::engine::cuda
