#pragma once

// For functions that use AVX2, FMA and F16C by <immintrin.h>, in files that are compiled for every
// x86-64. Call them only where has_avx2() is true.
#define PROA_AVX2 __attribute__((target("avx2,fma,f16c")))

// The same with AVX-512 VNNI's products of 16-bit numbers, on vectors of 32 bytes. has_vnni().
#define PROA_VNNI __attribute__((target("avx2,fma,f16c,avx512vl,avx512vnni")))

namespace proa::image {

inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

inline bool has_vnni() {
  return has_avx2() && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

}  // namespace proa::image
