// What kernels ask of the hardware beyond C++; the matrix instructions are in matrix.cuh. The
// emulator has its own of both.
#pragma once

#include <cuda_runtime.h>

namespace proa::engine::cuda {

// Lets the next kernel start its own preparation.
__device__ __forceinline__ void allow_next() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Waits until the kernels in front have ended and their results can be read.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// 16 bytes to global memory in one store, which the compiler might make four.
__device__ __forceinline__ void store_vector(void* to, const uint4& v) {
  asm volatile("st.global.v4.b32 [%0], {%1,%2,%3,%4};"
               :
               : "l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

// The shared memory that a block was launched with.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return reinterpret_cast<T*>(bytes);
}

}  // namespace proa::engine::cuda
