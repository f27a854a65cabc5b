// The resampling kernels on vectors of 32 bytes, compiled once for each set of instructions.
// Whoever includes this has defined PROA_SIMD, the attribute of functions that use the set, and, in
// an unnamed namespace of proa::image, add_products(sum, pairs, weights): sum plus the products of
// pairs of 16-bit numbers.
//
// The sums of products of bytes and 23-bit weights are exact: each weight is split in two 16-bit
// parts, and two sums are kept.
#include <algorithm>
#include <vector>

#include "boost/container/small_vector.hpp"
#include "image/image.h"
#include "image/resample_kernels.h"

namespace proa::image {
namespace {

constexpr int kHalf = 1 << (Taps::kFractionBits - 1);

// Whole pixels out of both sums.
PROA_SIMD inline __m256i close_sums(__m256i low, __m256i high) {
  const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(low, _mm256_set1_epi32(kHalf)),
                                       _mm256_slli_epi32(high, SplitWeight::kBits));
  return _mm256_srai_epi32(sum, Taps::kFractionBits);
}

// One row by itself: both halves of a vector work on the same pixels. The first pair of them, and
// the second, become r0 r1 g0 g1 b0 b1 0 0 as 16-bit numbers.
PROA_SIMD inline __m256i first_and_second_pair(const std::uint8_t* pixels) {
  const __m256i order =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,  //
                       6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels));
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), order);
}

// Numbers 0 and 1 in the lower and upper half.
PROA_SIMD inline __m256i halves(std::int32_t first, std::int32_t second) {
  return _mm256_inserti128_si256(_mm256_set1_epi32(first), _mm_set1_epi32(second), 1);
}

PROA_SIMD void one_row(const std::uint8_t* from, const RowTaps& taps, std::uint8_t* to) {
  const std::int32_t* split = taps.split.data();
  for (std::size_t i = 0; i < taps.first.size(); ++i) {
    const std::uint8_t* pixels = from + taps.first[i] * Image::kChannels;
    __m256i low = _mm256_setzero_si256(), high = low;
    for (int pair = 0; pair < taps.pairs; pair += 2, split += 4, pixels += 4 * Image::kChannels) {
      const __m256i both = first_and_second_pair(pixels);
      const bool single = pair + 1 == taps.pairs;
      low = add_products(low, both, halves(split[0], single ? 0 : split[2]));
      high = add_products(high, both, halves(split[1], single ? 0 : split[3]));
      if (single) split -= 2;
    }
    low = _mm256_add_epi32(low, _mm256_permute2x128_si256(low, low, 1));
    high = _mm256_add_epi32(high, _mm256_permute2x128_si256(high, high, 1));
    const __m256i words = _mm256_packs_epi32(close_sums(low, high), low);
    const int pixel = _mm256_cvtsi256_si32(_mm256_packus_epi16(words, words));
    // The fourth byte is overwritten by the next pixel.
    __builtin_memcpy(to + i * Image::kChannels, &pixel, sizeof(pixel));
  }
}

PROA_SIMD inline __m256i load_bytes(const std::uint8_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

// The sums of 32 places, as the instructions that interleave them order them.
struct Sums {
  __m256i low[4], high[4];
};

PROA_SIMD inline void clear(Sums& sums) {
  for (int i = 0; i < 4; ++i) sums.low[i] = sums.high[i] = _mm256_setzero_si256();
}

// Pairs of 16-bit numbers times pairs of weights.
PROA_SIMD inline void add_products(Sums& sums, int i, __m256i pairs, __m256i low, __m256i high) {
  sums.low[i] = add_products(sums.low[i], pairs, low);
  sums.high[i] = add_products(sums.high[i], pairs, high);
}

// Adds two times 32 bytes with their weights. In this order all sums stay in registers.
PROA_SIMD inline void add_pair(Sums& sums, __m256i first, __m256i second, __m256i low,
                               __m256i high) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i left = _mm256_unpacklo_epi8(first, second);
  const __m256i right = _mm256_unpackhi_epi8(first, second);
  add_products(sums, 0, _mm256_unpacklo_epi8(left, zero), low, high);
  add_products(sums, 1, _mm256_unpackhi_epi8(left, zero), low, high);
  add_products(sums, 2, _mm256_unpacklo_epi8(right, zero), low, high);
  add_products(sums, 3, _mm256_unpackhi_epi8(right, zero), low, high);
}

PROA_SIMD inline __m256i close_bytes(const Sums& sums) {
  const __m256i left = _mm256_packs_epi32(close_sums(sums.low[0], sums.high[0]),
                                          close_sums(sums.low[1], sums.high[1]));
  const __m256i right = _mm256_packs_epi32(close_sums(sums.low[2], sums.high[2]),
                                           close_sums(sums.low[3], sums.high[3]));
  return _mm256_packus_epi16(left, right);
}

PROA_SIMD inline void store_bytes(std::uint8_t* to, __m256i bytes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
}

// The weights of two rows, as add_pair() takes them.
struct PairWeights {
  int low, high;
};

PROA_SIMD void simd_columns(const std::uint8_t* const* rows, const std::int32_t* weights, int count,
                            std::uint8_t* to, std::size_t bytes) {
  boost::container::small_vector<PairWeights, 32> pairs;
  for (int k = 0; k < count; k += 2) {
    const SplitWeight a = split_weight(weights[k]);
    const SplitWeight b = split_weight(k + 1 < count ? weights[k + 1] : 0);
    pairs.push_back(
        {static_cast<int>(a.low | b.low << 16), static_cast<int>(a.high | b.high << 16)});
  }
  for (std::size_t at = 0; at < bytes; at += 32) {
    Sums sums;
    clear(sums);
    const std::uint8_t* const* row = rows;
    for (const PairWeights& pair : pairs) {
      // Behind the last one of an odd number stands the same row again, with a weight of 0.
      const std::uint8_t* const second = row + 1 < rows + count ? row[1] : row[0];
      add_pair(sums, load_bytes(row[0] + at), load_bytes(second + at), _mm256_set1_epi32(pair.low),
               _mm256_set1_epi32(pair.high));
      row += 2;
    }
    store_bytes(to + at, close_bytes(sums));
  }
}

constexpr int kRows = ResampleKernels::kRows;
static_assert(kRows == 32, "a vector of bytes");

// Half of the way from 16 rows of 16 bytes to their columns, in each half of the vectors: what
// becomes of vectors i, i + 4, i + 8 and i + 12 are vectors 4 i to 4 i + 3. Twice is the whole way.
template <class Store>
PROA_SIMD inline void turn(__m256i a, __m256i b, __m256i c, __m256i d, const Store& store) {
  const __m256i even_low = _mm256_unpacklo_epi8(a, c), even_high = _mm256_unpackhi_epi8(a, c);
  const __m256i odd_low = _mm256_unpacklo_epi8(b, d), odd_high = _mm256_unpackhi_epi8(b, d);
  store(0, _mm256_unpacklo_epi8(even_low, odd_low));
  store(1, _mm256_unpackhi_epi8(even_low, odd_low));
  store(2, _mm256_unpacklo_epi8(even_high, odd_high));
  store(3, _mm256_unpackhi_epi8(even_high, odd_high));
}

// The same 16 bytes of two rows.
PROA_SIMD inline __m256i load_two(const std::uint8_t* upper, const std::uint8_t* lower) {
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(upper));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lower));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

// Bytes [at, at + 16) of 32 rows become 16 columns of 32 bytes.
PROA_SIMD void rows_to_columns(const std::uint8_t* const* rows, std::size_t at, std::uint8_t* to) {
  constexpr std::size_t kAhead = 192;  // more rows than the processor follows by itself
  if (at % 64 < 16) {
    for (int i = 0; i < kRows; ++i) __builtin_prefetch(rows[i] + at + kAhead);
  }
  const auto two = [&](int i) PROA_SIMD { return load_two(rows[i] + at, rows[i + 16] + at); };
  __m256i half[16];
  for (int i = 0; i < 4; ++i) {
    turn(two(i), two(i + 4), two(i + 8), two(i + 12),
         [&](int k, __m256i part) PROA_SIMD { half[4 * i + k] = part; });
  }
  for (int i = 0; i < 4; ++i) {
    turn(half[i], half[i + 4], half[i + 8], half[i + 12],
         [&](int k, __m256i column) PROA_SIMD { store_bytes(to + (4 * i + k) * kRows, column); });
  }
}

// The way back.
PROA_SIMD void columns_to_rows(const std::uint8_t* from, std::uint8_t* const* rows,
                               std::size_t at) {
  const auto column = [&](int i) PROA_SIMD { return load_bytes(from + i * kRows); };
  __m256i half[16];
  for (int i = 0; i < 4; ++i) {
    turn(column(i), column(i + 4), column(i + 8), column(i + 12),
         [&](int k, __m256i part) PROA_SIMD { half[4 * i + k] = part; });
  }
  for (int i = 0; i < 4; ++i) {
    turn(half[i], half[i + 4], half[i + 8], half[i + 12], [&](int k, __m256i both) PROA_SIMD {
      const int row = 4 * i + k;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(rows[row] + at), _mm256_castsi256_si128(both));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(rows[row + 16] + at),
                       _mm256_extracti128_si256(both, 1));
    });
  }
}

// The channels of one pixel of 32 rows: 32 bytes each.
PROA_SIMD inline void sum_pixel(const std::uint8_t* from, const std::int32_t* weights, int pairs,
                                std::uint8_t* to) {
  constexpr int kPixel = Image::kChannels * kRows;
  for (int c = 0; c < Image::kChannels; ++c, from += kRows, to += kRows) {
    const std::uint8_t* at = from;
    const std::int32_t* split = weights;
    Sums sums;
    clear(sums);
    for (int pair = 0; pair < pairs; ++pair, split += 2, at += 2 * kPixel) {
      add_pair(sums, load_bytes(at), load_bytes(at + kPixel), _mm256_set1_epi32(split[0]),
               _mm256_set1_epi32(split[1]));
    }
    store_bytes(to, close_bytes(sums));
  }
}

// Rows lie beside each other in memory, and a row's pixels are wanted one above the other: the rows
// are turned into columns, just before these are needed, resampled, and turned back.
PROA_SIMD void all_rows(const std::uint8_t* const* from, const RowTaps& taps,
                        std::uint8_t* const* to, std::vector<std::uint8_t>& scratch) {
  constexpr std::size_t kBlock = 16;
  const auto blocks = [](std::size_t pixels) {
    return (pixels * Image::kChannels + kBlock - 1) / kBlock;
  };
  const int begin = taps.first[0];
  const std::size_t in = blocks(taps.first.back() + 2 * taps.pairs - begin);
  scratch.resize((in + blocks(taps.first.size())) * kBlock * kRows);
  std::uint8_t* const columns = scratch.data();
  std::uint8_t* const sums = columns + in * kBlock * kRows;
  std::size_t turned = 0, turned_back = 0;  // bytes of a row
  for (std::size_t i = 0; i < taps.first.size(); ++i) {
    const int first = taps.first[i] - begin;
    for (; turned < static_cast<std::size_t>(first + 2 * taps.pairs) * Image::kChannels;
         turned += kBlock) {
      rows_to_columns(from, begin * Image::kChannels + turned, columns + turned * kRows);
    }
    sum_pixel(columns + first * Image::kChannels * kRows, taps.split.data() + i * 2 * taps.pairs,
              taps.pairs, sums + i * Image::kChannels * kRows);
    if ((i + 1) * Image::kChannels < turned_back + kBlock) continue;
    columns_to_rows(sums + turned_back * kRows, to, turned_back);
    turned_back += kBlock;
  }
  if (turned_back < taps.first.size() * Image::kChannels) {
    columns_to_rows(sums + turned_back * kRows, to, turned_back);
  }
}

PROA_SIMD void simd_rows(const std::uint8_t* const* from, int count, const RowTaps& taps,
                         std::uint8_t* const* to, std::vector<std::uint8_t>& scratch) {
  if (count < kRows / 2) {
    for (int i = 0; i < count; ++i) one_row(from[i], taps, to[i]);
    return;
  }
  // Places that are left over repeat the last row.
  const std::uint8_t* all_from[kRows];
  std::uint8_t* all_to[kRows];
  for (int i = 0; i < kRows; ++i) {
    all_from[i] = from[std::min(i, count - 1)];
    all_to[i] = to[std::min(i, count - 1)];
  }
  all_rows(all_from, taps, all_to, scratch);
}

constexpr ResampleKernels kSimdKernels{simd_rows, simd_columns};

}  // namespace
}  // namespace proa::image
