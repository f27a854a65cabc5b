#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/taps.h"

namespace proa::image {

// The inner loops of Pillow's definition over 8-bit RGB rows. Every set gives the same bytes.
// Threading: immutable.
struct ResampleKernels {
  static constexpr int kRows = 32;  // most rows of one call of `rows`

  // Resamples `count` rows along x: taps.first.size() pixels each. Reads up to 32 bytes behind a
  // row's pixels and writes up to 16 bytes behind the result's. `scratch` is made as large as
  // needed.
  void (*rows)(const std::uint8_t* const* from, int count, const RowTaps& taps,
               std::uint8_t* const* to, std::vector<std::uint8_t>& scratch);
  // One row of `bytes` channels out of `count` rows and their weights. Reads and writes up to 32
  // bytes further.
  void (*columns)(const std::uint8_t* const* rows, const std::int32_t* weights, int count,
                  std::uint8_t* to, std::size_t bytes);
};

// In plain C++: what the others are tested against.
const ResampleKernels& plain_resample_kernels();

// For processors with AVX2; null where there is none.
const ResampleKernels* avx2_resample_kernels();

// The same with AVX-512 VNNI.
const ResampleKernels* vnni_resample_kernels();

// The fastest that this processor runs.
const ResampleKernels& resample_kernels();

}  // namespace proa::image
