// Asynchronous copies to shared memory, for the emulator.
#pragma once

#include "engine/emulator/emulator.h"

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                    std::size_t zeros = 0) {
  proa::engine::emulator::send_async(to, from, bytes, zeros);
}
inline void __pipeline_commit() { proa::engine::emulator::commit_async(); }
inline void __pipeline_wait_prior(std::size_t groups) {
  proa::engine::emulator::wait_async(groups);
}
