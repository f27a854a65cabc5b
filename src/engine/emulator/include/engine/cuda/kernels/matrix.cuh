// The matrix instructions of cuda/kernels/matrix.cuh, for the emulator. It is found before that one
// and says the same of which lane holds what.
#pragma once

#include <array>
#include <cstring>

#include "base/check.h"
#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {

inline float half_of(unsigned pair, int i) {
  return half_to_float(static_cast<std::uint16_t>(pair >> (16 * i)));
}

template <std::size_t kMatrices>
void load_matrix(unsigned (&a)[kMatrices], unsigned address) {
  struct Part {
    unsigned address;
    unsigned a[kMatrices];
  } part{address, {}};
  emulator::with_warp(&part, sizeof part, [](std::byte* parts) {
    auto* lanes = reinterpret_cast<Part*>(parts);
    for (int lane = 0; lane < emulator::kWarp; ++lane) {
      for (std::size_t i = 0; i < kMatrices; ++i) {
        const unsigned row = lanes[i * 8 + static_cast<std::size_t>(lane) / 4].address;
        PROA_CHECK(row % 16 == 0, "rows of matrices are aligned to 16 bytes");
        const auto* numbers =
            reinterpret_cast<const unsigned*>(emulator::shared_memory() + row) + lane % 4;
        lanes[lane].a[i] = *numbers;
      }
    }
  });
  std::memcpy(a, part.a, sizeof a);
}

inline void tie_to_memory(unsigned&) {}
inline void tie_to_order(float&) {}

// sum += a [16, 8 x kHalves] x b [8 x kHalves, 8].
template <int kHalves>
void multiply_lanes(float (&sum)[4], const unsigned* a, const unsigned* b) {
  struct Part {
    unsigned a[2 * kHalves], b[kHalves];
    float sum[4];
  } part;
  std::memcpy(part.a, a, sizeof part.a);
  std::memcpy(part.b, b, sizeof part.b);
  std::memcpy(part.sum, sum, sizeof part.sum);
  emulator::with_warp(&part, sizeof part, [](std::byte* parts) {
    auto* lanes = reinterpret_cast<Part*>(parts);
    float left[16][8 * kHalves], right[8 * kHalves][8];
    for (int lane = 0; lane < emulator::kWarp; ++lane) {
      const int group = lane / 4, pair = lane % 4 * 2;
      for (int half = 0; half < kHalves; ++half) {
        for (int i = 0; i < 2; ++i) {
          const int k = half * 8 + pair + i;
          left[group][k] = half_of(lanes[lane].a[half * 2], i);
          left[group + 8][k] = half_of(lanes[lane].a[half * 2 + 1], i);
          right[k][group] = half_of(lanes[lane].b[half], i);
        }
      }
    }
    for (int lane = 0; lane < emulator::kWarp; ++lane) {
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 8 * kHalves; ++k) lanes[lane].sum[i] += left[row][k] * right[k][column];
      }
    }
  });
  std::memcpy(sum, part.sum, sizeof part.sum);
}
inline void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const unsigned b[2] = {b0, b1};
  multiply_lanes<2>(sum, a, b);
}
inline void multiply(float (&sum)[4], const unsigned (&a)[2], unsigned b) {
  multiply_lanes<1>(sum, a, &b);
}

inline __half2 relu_pair(float low, float high) {
  return __floats2half2_rn(fmaxf(low, 0.0f), fmaxf(high, 0.0f));
}

}  // namespace proa::engine::cuda
