#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

// One thread makes 8 channels of one pixel. kKernel is the window when it is square and known at
// compile time, else 0.
template <int kKernel>
__global__ void max_pool_kernel(const uint4* x, uint4* y, PoolShape s) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  const int vectors = s.c / 8;
  const std::int64_t total = static_cast<std::int64_t>(s.n) * s.p * s.q * vectors;
  if (i >= total) return;
  const int c = static_cast<int>(i % vectors);
  std::int64_t pixel = i / vectors;
  const int q = static_cast<int>(pixel % s.q);
  pixel /= s.q;
  const int p = static_cast<int>(pixel % s.p);
  const std::int64_t n = pixel / s.p;
  const unsigned lowest = 0xfc00fc00u;  // minus infinity, twice
  uint4 best = make_uint4(lowest, lowest, lowest, lowest);
  const int kernel_h = kKernel > 0 ? kKernel : s.kernel_h;
  const int kernel_w = kKernel > 0 ? kKernel : s.kernel_w;
#pragma unroll
  for (int r = 0; r < kernel_h; ++r) {
    const int h = p * s.stride_h - s.pad_h + r;
    if (h < 0 || h >= s.h) continue;
#pragma unroll
    for (int t = 0; t < kernel_w; ++t) {
      const int w = q * s.stride_w - s.pad_w + t;
      if (w < 0 || w >= s.w) continue;
      best = max_of(best, x[((n * s.h + h) * s.w + w) * vectors + c]);
    }
  }
  y[i] = best;
}

}  // namespace

cudaError_t launch_max_pool(const void* x, void* y, const PoolShape& shape, cudaStream_t stream) {
  const std::int64_t threads =
      static_cast<std::int64_t>(shape.n) * shape.p * shape.q * (shape.c / 8);
  const bool square = shape.kernel_h == shape.kernel_w;
  auto* kernel = square && shape.kernel_h == 3   ? max_pool_kernel<3>
                 : square && shape.kernel_h == 2 ? max_pool_kernel<2>
                                                 : max_pool_kernel<0>;
  return launch(kernel, threads, 256, stream, static_cast<const uint4*>(x), static_cast<uint4*>(y),
                shape);
}

}  // namespace proa::engine::cuda
