#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kBlocks = 8;  // few: they run beside others
constexpr int kLineBytes = 128;

// Each thread asks for every so many lines of each range.
__global__ void prefetch_kernel(PrefetchRanges ranges) {
  const auto first = static_cast<std::size_t>(thread_index()) * kLineBytes;
  for (int i = 0; i < ranges.count; ++i) {
    for (std::size_t at = first; at < ranges.bytes[i];
         at += std::size_t{kThreads} * kBlocks * kLineBytes) {
      prefetch_line(ranges.begin[i] + at);
    }
  }
}

}  // namespace

cudaError_t launch_prefetch(const PrefetchRanges& ranges, cudaStream_t stream) {
  // It depends on nothing: no programmatic launch.
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, prefetch_kernel, ranges);
}

}  // namespace proa::engine::cuda
