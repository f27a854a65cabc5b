#pragma once

#include <cstdint>
#include <vector>

#include "image/resize.h"

namespace proa::image {

// Which pixels along one axis make each pixel of the result, and their weights, in the fixed point
// of Pillow: 22 fractional bits.
// Threading: immutable once made.
struct Taps {
  static constexpr int kFractionBits = 22;

  int stride = 0;          // weights a pixel; those behind its count are 0
  std::vector<int> first;  // by pixel of the result
  std::vector<int> count;
  std::vector<std::int32_t> weights;

  std::size_t size() const { return first.size(); }
  const std::int32_t* weights_of(std::size_t i) const {
    return weights.data() + i * static_cast<std::size_t>(stride);
  }
};

// The taps of the pixels [begin, end) of an axis that goes from `from` pixels to `to`.
// `filter` is not kNearest.
Taps make_taps(int from, int to, int begin, int end, Filter filter);

// A weight as two 16-bit numbers: low + high * 2^11, the lower one not negative.
struct SplitWeight {
  static constexpr int kBits = 11;
  std::uint32_t low, high;  // 16 bits each
};
inline SplitWeight split_weight(std::int32_t weight) {
  return {static_cast<std::uint32_t>(weight) & ((1U << SplitWeight::kBits) - 1),
          static_cast<std::uint32_t>(weight >> SplitWeight::kBits) & 0xffffU};
}

// Taps along a row as the vector kernels read them: two pixels at a time, with split weights, so
// that 16-bit products add up to the exact sum.
struct RowTaps {
  Taps taps;
  int pairs = 0;           // a pixel
  std::vector<int> first;  // of its first pair: never further right than it must be
  // [pixel][pair]: the lower parts of both weights in the halves of a number, then the upper parts.
  std::vector<std::int32_t> split;
};

RowTaps make_row_taps(Taps taps, int from);

}  // namespace proa::image
