#include "image/resample_kernels.h"

#include <algorithm>

#include "image/image.h"

namespace proa::image {
namespace {

constexpr std::int32_t kHalf = 1 << (Taps::kFractionBits - 1);

std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> Taps::kFractionBits, 0, 255));
}

void resample_row(const std::uint8_t* from, const Taps& taps, std::uint8_t* to) {
  for (std::size_t i = 0; i < taps.size(); ++i) {
    std::int32_t sums[Image::kChannels] = {kHalf, kHalf, kHalf};
    const std::uint8_t* pixel = from + taps.first[i] * Image::kChannels;
    const std::int32_t* const weights = taps.weights_of(i);
    for (int k = 0; k < taps.count[i]; ++k, pixel += Image::kChannels) {
      for (int c = 0; c < Image::kChannels; ++c) sums[c] += pixel[c] * weights[k];
    }
    for (const std::int32_t sum : sums) *to++ = to_byte(sum);
  }
}

void plain_rows(const std::uint8_t* const* from, int count, const RowTaps& taps,
                std::uint8_t* const* to, std::vector<std::uint8_t>&) {
  for (int i = 0; i < count; ++i) resample_row(from[i], taps.taps, to[i]);
}

void plain_columns(const std::uint8_t* const* rows, const std::int32_t* weights, int count,
                   std::uint8_t* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    std::int32_t sum = kHalf;
    for (int k = 0; k < count; ++k) sum += rows[k][i] * weights[k];
    to[i] = to_byte(sum);
  }
}

}  // namespace

const ResampleKernels& plain_resample_kernels() {
  static constexpr ResampleKernels kPlain{plain_rows, plain_columns};
  return kPlain;
}

const ResampleKernels& resample_kernels() {
  static const ResampleKernels& fastest = [] -> const ResampleKernels& {
    for (const auto kernels : {vnni_resample_kernels, avx2_resample_kernels}) {
      if (const ResampleKernels* const found = kernels()) return *found;
    }
    return plain_resample_kernels();
  }();
  return fastest;
}

}  // namespace proa::image
