#pragma once

#include <bit>
#include <cstdint>

namespace proa::engine {

// IEEE binary16 in 16 bits, for host code: no arithmetic, only conversions.
// Rounding to nearest even, as `cvt.rn.f16.f32` does; above 65,504 it becomes infinity.

inline constexpr float kLargestHalf = 65504;

inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {  // infinity or NaN
    return sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u);
  }
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // rounds to infinity
  if (magnitude < 0x38800000u) {                        // subnormal: let the adder round
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u);
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return sign | static_cast<std::uint16_t>((magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}

inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  }
  const float scaled =
      std::bit_cast<float>(magnitude << 13) * std::bit_cast<float>(0x77800000u);  // times 2^112
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

}  // namespace proa::engine
