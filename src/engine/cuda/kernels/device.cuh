#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "engine/cuda/kernels/hardware.cuh"
#include "engine/cuda/kernels/kernels.h"

namespace proa::engine::cuda {

// First statement of every kernel of the engine; one that reads constants first has the two apart.
__device__ __forceinline__ void wait_for_inputs() {
  allow_next();
  wait_for_previous();
}

__device__ __forceinline__ float load_unclipped(const Source& source, std::int64_t i) {
  switch (source.type) {
    case Number::kHalf:
      return __half2float(static_cast<const __half*>(source.data)[i]);
    case Number::kFloat:
      return static_cast<const float*>(source.data)[i];
    case Number::kUint8:
      return static_cast<const std::uint8_t*>(source.data)[i];
    case Number::kInt8:
      return static_cast<const std::int8_t*>(source.data)[i];
    case Number::kInt32:
      return static_cast<float>(static_cast<const std::int32_t*>(source.data)[i]);
    case Number::kInt64:
      return static_cast<float>(static_cast<const std::int64_t*>(source.data)[i]);
  }
  return 0;
}

__device__ __forceinline__ float load(const Source& source, std::int64_t i) {
  return fminf(load_unclipped(source, i), source.max);
}

// Four numbers in one load, as floats, from an address that is aligned to them.
__device__ __forceinline__ void load_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ __forceinline__ void load_four(const __half* from, float* to) {
  const uint2 four = *reinterpret_cast<const uint2*>(from);
  const float2 low = __half22float2(*reinterpret_cast<const __half2*>(&four.x));
  const float2 high = __half22float2(*reinterpret_cast<const __half2*>(&four.y));
  to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
}
__device__ __forceinline__ void load_four(const std::uint8_t* from, float* to) {
  const uchar4 four = *reinterpret_cast<const uchar4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// Integers lose their fraction, as in the models' formats, and are clamped.
__device__ __forceinline__ void store(void* y, Number type, std::int64_t i, float x) {
  switch (type) {
    case Number::kHalf:
      static_cast<__half*>(y)[i] = __float2half_rn(x);
      break;
    case Number::kFloat:
      static_cast<float*>(y)[i] = x;
      break;
    case Number::kUint8:
      static_cast<std::uint8_t*>(y)[i] =
          static_cast<std::uint8_t>(fminf(fmaxf(truncf(x), 0.0f), 255.0f));
      break;
    case Number::kInt8:
      static_cast<std::int8_t*>(y)[i] =
          static_cast<std::int8_t>(fminf(fmaxf(truncf(x), -128.0f), 127.0f));
      break;
    case Number::kInt32:
      static_cast<std::int32_t*>(y)[i] = __float2int_rz(x);
      break;
    case Number::kInt64:
      static_cast<std::int64_t*>(y)[i] = __float2ll_rz(x);
      break;
  }
}

__device__ __forceinline__ float apply_on_device(const Activation& act, float x) {
  switch (act.function) {
    case Function::kIdentity:
      return x;
    case Function::kRelu:
      return fmaxf(x, 0.0f);
    case Function::kClamp:
      return fminf(fmaxf(x, act.low), act.high);
    case Function::kSigmoid:
      return 1.0f / (1.0f + expf(-x));
    case Function::kTanh:
      return tanhf(x);
    case Function::kExp:
      return expf(x);
    case Function::kSqrt:
      return sqrtf(x);
    case Function::kAbs:
      return fabsf(x);
    case Function::kNegative:
      return -x;
    case Function::kSwish:
      return x / (1.0f + expf(-x));
    case Function::kHardSwish:
      return x * fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) / 6.0f;
  }
  return x;
}

// An activation for kernels that apply it to many numbers a thread: bounds are two instructions,
// the rest is a call, so that the code stays small.
struct Finish {
  float low, high;
  Activation act;
  bool bounds;  // false: `act`
};
inline Finish finish_of(const Activation& act) {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  switch (act.function) {
    case Function::kIdentity:
      return {-kFar, kFar, act, true};
    case Function::kRelu:
      return {0, kFar, act, true};
    case Function::kClamp:
      return {act.low, act.high, act, true};
    default:
      return {-kFar, kFar, act, false};
  }
}
__device__ __noinline__ inline float finish_by_call(const Activation& act, float x) {
  return apply_on_device(act, x);
}
__device__ __forceinline__ float finish(const Finish& f, float x) {
  return f.bounds ? fminf(fmaxf(x, f.low), f.high) : finish_by_call(f.act, x);
}

// The bounds of `f` as halves, for numbers that are rounded first: the order makes no difference.
struct HalfBounds {
  __half2 low, high;
};
__device__ __forceinline__ HalfBounds half_bounds(const Finish& f) {
  return {__float2half2_rn(f.low), __float2half2_rn(f.high)};
}
__device__ __forceinline__ __half2 clamp_pair(__half2 pair, const HalfBounds& bounds) {
  return __hmin2(__hmax2(pair, bounds.low), bounds.high);
}

// The larger of each of 8 halves.
__device__ __forceinline__ uint4 max_of(uint4 a, uint4 b) {
  const auto* pa = reinterpret_cast<const __half2*>(&a);
  const auto* pb = reinterpret_cast<const __half2*>(&b);
  uint4 result;
  auto* out = reinterpret_cast<__half2*>(&result);
#pragma unroll
  for (int i = 0; i < 4; ++i) out[i] = __hmax2(pa[i], pb[i]);
  return result;
}

__device__ __forceinline__ float combine(BinaryKind kind, float a, float b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSubtract:
      return a - b;
    case BinaryKind::kMultiply:
      return a * b;
    case BinaryKind::kDivide:
      return a / b;
    case BinaryKind::kMaximum:
      return fmaxf(a, b);
    case BinaryKind::kMinimum:
      return fminf(a, b);
  }
  return a;
}

// i / by for small numbers (below 2^20), without a division.
struct Divider {
  int by;
  float inverse;
  __host__ __device__ __forceinline__ explicit Divider(int divisor)
      : by(divisor), inverse(1.0f / static_cast<float>(divisor)) {}
  __device__ __forceinline__ int divide(int i) const {
    return static_cast<int>((static_cast<float>(i) + 0.5f) * inverse);
  }
};

__device__ __forceinline__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// Rounded up.
inline int divided(int a, int b) { return (a + b - 1) / b; }

// Launches `kernel` with programmatic dependent launch where the device has it; elsewhere the
// attribute is ignored. `cluster` blocks side by side in the grid's x are a cluster. Kernels of
// clusters take no part in programmatic launch: on an H200 an early form of few_pixels that did
// gave wrong answers behind block_end and another of its kind, and why was not found.
template <class... Parameters, class... Arguments>
cudaError_t launch_clusters(void (*kernel)(Parameters...), dim3 grid, unsigned cluster, int block,
                            std::size_t shared_bytes, cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(block));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  if (cluster > 1) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
  } else {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

// The same without clusters.
template <class... Parameters, class... Arguments>
cudaError_t launch_grid(void (*kernel)(Parameters...), dim3 grid, int block,
                        std::size_t shared_bytes, cudaStream_t stream, Arguments... arguments) {
  return launch_clusters(kernel, grid, 1, block, shared_bytes, stream, arguments...);
}

// The same over `threads` threads side by side.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), std::int64_t threads, int block,
                   cudaStream_t stream, Arguments... arguments) {
  if (threads <= 0) return cudaSuccess;
  return launch_grid(kernel, dim3(static_cast<unsigned>((threads + block - 1) / block)), block, 0,
                     stream, arguments...);
}

}  // namespace proa::engine::cuda
