#pragma once

// For functions that use AVX2, FMA and F16C by <immintrin.h>, in files that are compiled for every
// x86-64. Call them only where has_avx2() is true.
#define PROA_AVX2 __attribute__((target("avx2,fma,f16c")))

namespace proa::image {

inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

}  // namespace proa::image
