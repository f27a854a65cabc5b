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

// The blocks of a cluster (compute capability 9.0) wait for each other in two steps, each of all
// threads. What was written before the first can be read after the second.
__device__ __forceinline__ void arrive_at_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
// The first step where nothing that was written is meant: it does not wait for memory.
__device__ __forceinline__ void announce_to_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
#endif
}
__device__ __forceinline__ void wait_for_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Where block `rank` of the cluster has what this block has at `own`, in shared memory. It must
// have begun, and not ended.
template <class T>
__device__ __forceinline__ T* in_block(T* own, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(own), "r"(rank));
  return there;
#else
  return own;
#endif
}

}  // namespace proa::engine::cuda
