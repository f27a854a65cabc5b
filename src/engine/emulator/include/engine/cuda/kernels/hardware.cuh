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

inline void store_vector(void* to, const uint4& v) { *static_cast<uint4*>(to) = v; }

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(emulator::shared_memory());
}

inline void arrive_at_cluster() { emulator::arrive_at_cluster(); }
inline void announce_to_cluster() { emulator::arrive_at_cluster(); }
inline void wait_for_cluster() { emulator::wait_for_cluster(); }

template <class T>
T* in_block(T* own, unsigned rank) {
  const auto offset = reinterpret_cast<std::byte*>(own) - emulator::shared_memory();
  return reinterpret_cast<T*>(emulator::shared_memory_of(rank) + offset);
}

}  // namespace proa::engine::cuda
