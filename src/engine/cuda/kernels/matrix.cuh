// Matrix products of FP16 with FP32 sums by the tensor cores, one warp at a time (compute
// capability 8.0). Lane l of a warp holds columns 2 (l % 4) and 2 (l % 4) + 1 of rows l / 4 and
// l / 4 + 8 of a result.
#pragma once

#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {

// Four 8x8 matrices from shared memory; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrix(unsigned (&a)[4], unsigned address) {
  asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
      : "r"(address));
}
// Two of them; the addresses of lanes 0 to 15 count.
__device__ __forceinline__ void load_matrix(unsigned (&a)[2], unsigned address) {
  asm("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
      : "=r"(a[0]), "=r"(a[1])
      : "r"(address));
}

// The loads above say nothing to the compiler about memory: an address that went through here
// behind a barrier ties them to it.
__device__ __forceinline__ void tie_to_memory(unsigned& address) {
  asm volatile("" : "+r"(address) : : "memory");
}

// The same for a number that loads and products made: it is there before what follows.
__device__ __forceinline__ void tie_to_order(float& number) { asm volatile("" : "+f"(number)); }

// sum += a [16, 16] x b [16, 8].
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// sum += a [16, 8] x b [8, 8].
__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned (&a)[2], unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

// Two sums as halves, negative ones as 0.
__device__ __forceinline__ __half2 relu_pair(float low, float high) {
  unsigned packed;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return *reinterpret_cast<const __half2*>(&packed);
}

}  // namespace proa::engine::cuda
