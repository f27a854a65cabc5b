// What our kernels use of CUDA's language and runtime, for the emulator.
#pragma once

#include <math.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "cuda_runtime_api.h"
#include "engine/emulator/emulator.h"

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __shared__ \
  static  // not for clusters, whose blocks run together; unlike dynamic shared memory it keeps its
          // numbers

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// Of the running thread.
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() { proa::engine::emulator::wait_for_block(); }

// Every lane gets what lane `from` gives.
template <class Number>
Number __shfl_sync(unsigned, Number number, int from) {
  struct Part {
    Number number;
    int from;
  } part{number, from};
  proa::engine::emulator::with_warp(&part, sizeof part, [](std::byte* parts) {
    constexpr int kWarp = proa::engine::emulator::kWarp;
    auto* lanes = reinterpret_cast<Part*>(parts);
    Part given[kWarp];
    std::copy_n(lanes, kWarp, given);
    for (int i = 0; i < kWarp; ++i) lanes[i].number = given[lanes[i].from % kWarp].number;
  });
  return part.number;
}
template <class Number>
Number __shfl_xor_sync(unsigned mask, Number number, int flipped) {
  return __shfl_sync(mask, number, static_cast<int>(threadIdx.x) % 32 ^ flipped);
}
template <class Number>
Number __shfl_down_sync(unsigned mask, Number number, int step) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return __shfl_sync(mask, number, lane + step < 32 ? lane + step : lane);
}

inline std::size_t __cvta_generic_to_shared(const void* pointer) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(pointer) -
                                  proa::engine::emulator::shared_memory());
}

template <class Integer>
Integer truncated(float x) {
  if (isnan(x)) return 0;
  if (x >= static_cast<float>(std::numeric_limits<Integer>::max())) {
    return std::numeric_limits<Integer>::max();
  }
  if (x <= static_cast<float>(std::numeric_limits<Integer>::min())) {
    return std::numeric_limits<Integer>::min();
  }
  return static_cast<Integer>(x);
}
inline int __float2int_rz(float x) { return truncated<int>(x); }
inline long long __float2ll_rz(float x) { return truncated<long long>(x); }
inline float atomicAdd(float* at, float x) {
  const float old = *at;
  *at += x;
  return old;
}
using std::isfinite;
using std::max;
using std::min;

// --- launches
// --------------------------------------------------------------------------------------
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaLaunchAttributeID {
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeClusterDimension
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
    dim3 clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

// A kernel gets more than 48 KiB of shared memory only once it was allowed to.
template <class... Parameters>
std::size_t& allowed_shared_bytes(void (*kernel)(Parameters...)) {
  static std::pair<void (*)(Parameters...), std::size_t> last;
  if (last.first != kernel) last = {kernel, 48 << 10};
  return last.second;
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int bytes) {
  if (static_cast<std::size_t>(bytes) > proa::engine::emulator::kSharedBytes) {
    return cudaErrorInvalidValue;
  }
  allowed_shared_bytes(kernel) = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Parameters... arguments) {
  const unsigned threads = config->blockDim.x * config->blockDim.y * config->blockDim.z;
  const dim3& grid = config->gridDim;
  unsigned cluster = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension) cluster = attribute.val.clusterDim.x;
  }
  if (cluster == 0 || cluster > 8 || grid.x % cluster != 0) return cudaErrorInvalidValue;
  if (threads == 0 || threads > 1024 || grid.x == 0 || grid.y == 0 || grid.y > 65535 ||
      grid.z == 0 || grid.z > 65535 || config->dynamicSmemBytes > allowed_shared_bytes(kernel)) {
    return cudaErrorInvalidValue;
  }
  proa::engine::emulator::run_grid({grid.x, grid.y, grid.z}, cluster, threads,
                                   config->dynamicSmemBytes, [&] { kernel(arguments...); });
  return cudaSuccess;
}

// As many as their shared memory and threads let be there; registers are not known.
template <class... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*)(Parameters...),
                                                          int threads, std::size_t shared_bytes) {
  const std::size_t by_memory = proa::engine::emulator::kSharedBytes / (shared_bytes + 1024);
  *blocks =
      static_cast<int>(std::min<std::size_t>(by_memory, 2048 / static_cast<unsigned>(threads)));
  return cudaSuccess;
}
