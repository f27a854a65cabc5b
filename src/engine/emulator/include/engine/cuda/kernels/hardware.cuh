// What cuda/kernels/hardware.cuh says, for the emulator, which finds this one first.
#pragma once

#include <cuda_runtime.h>

namespace proa::engine::cuda {

inline void allow_next() {}
inline void wait_for_previous() { emulator::wait_for_previous_kernel(); }
inline int thread_again() { return static_cast<int>(threadIdx.x); }

// It may touch only what is there.
inline void prefetch(const void* at) {
  static_cast<void>(*static_cast<const volatile unsigned char*>(at));
}

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(emulator::shared_memory());
}

}  // namespace proa::engine::cuda
