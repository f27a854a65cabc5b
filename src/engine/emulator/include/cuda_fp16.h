// Halves as CUDA has them, for the emulator.
#pragma once

#include "cuda_runtime.h"
#include "engine/half.h"

struct __half {
  std::uint16_t bits;
};
struct alignas(4) __half2 {
  __half x, y;
};

inline float __half2float(__half h) { return proa::engine::half_to_float(h.bits); }
inline __half __float2half_rn(float x) { return {proa::engine::float_to_half(x)}; }
inline float2 __half22float2(__half2 h) { return {__half2float(h.x), __half2float(h.y)}; }
inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half_rn(x), __float2half_rn(y)};
}
inline __half2 __float2half2_rn(float x) { return __floats2half2_rn(x, x); }
// The one that is a number, if one is.
inline __half2 __hmax2(__half2 a, __half2 b) {
  const float2 x = __half22float2(a), y = __half22float2(b);
  return __floats2half2_rn(fmaxf(x.x, y.x), fmaxf(x.y, y.y));
}
inline __half2 __hmin2(__half2 a, __half2 b) {
  const float2 x = __half22float2(a), y = __half22float2(b);
  return __floats2half2_rn(fminf(x.x, y.x), fminf(x.y, y.y));
}
