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

// threadIdx.x read anew, so that what is made from it need not stay in registers in between.
__device__ __forceinline__ int thread_again() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

// Has the line of global memory around that address brought into the second-level cache.
__device__ __forceinline__ void prefetch(const void* at) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(at)));
}

// The shared memory that a block was launched with.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return reinterpret_cast<T*>(bytes);
}

}  // namespace proa::engine::cuda
