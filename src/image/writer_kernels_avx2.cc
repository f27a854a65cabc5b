#include <immintrin.h>

#include "image/simd.h"
#include "image/writer_kernels.h"

namespace proa::image {
namespace {

PROA_AVX2 inline void store(__m256 values, float* to) { _mm256_storeu_ps(to, values); }
PROA_AVX2 inline void store(__m256 values, std::uint16_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

// The last few, where a whole vector would write too far.
template <class Value>
PROA_AVX2 inline void store_some(__m256 values, int count, Value* to) {
  alignas(32) Value all[8];
  store(values, all);
  for (int i = 0; i < count; ++i) to[i] = all[i];
}

PROA_AVX2 inline __m256 normalise(__m256i values, __m256 mean, __m256 scale) {
  return _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(values), mean), scale);
}

// Bytes c, c + 3, c + 6 and c + 9 of each half as 32-bit numbers.
PROA_AVX2 inline __m256i channel_order(int c) {
  const __m256i first =
      _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1, 0, -1, -1, -1, 3,
                       -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1);
  return _mm256_add_epi8(first, _mm256_set1_epi32(c));
}

// Eight pixels, four in each half.
PROA_AVX2 inline __m256i load_pixels(const std::uint8_t* rgb) {
  const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rgb));
  const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rgb + 12));
  return _mm256_set_m128i(right, left);
}

template <class Value>
PROA_AVX2 void avx2_planes(const std::uint8_t* rgb, int pixels, Value* const to[3],
                           const float mean[3], const float scale[3]) {
  for (int i = 0; i < pixels; i += 8) {
    const __m256i eight = load_pixels(rgb + 3 * i);
    for (int c = 0; c < 3; ++c) {
      if (to[c] == nullptr) continue;
      const __m256 values = normalise(_mm256_shuffle_epi8(eight, channel_order(c)),
                                      _mm256_set1_ps(mean[c]), _mm256_set1_ps(scale[c]));
      if (i + 8 <= pixels) {
        store(values, to[c] + i);
      } else {
        store_some(values, pixels - i, to[c] + i);
      }
    }
  }
}

template <class Value>
PROA_AVX2 void avx2_flat(const std::uint8_t* bytes, int count, Value* to, const float mean[24],
                         const float scale[24]) {
  for (int i = 0; i < count; i += 8) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i));
    const __m256 values = normalise(_mm256_cvtepu8_epi32(eight), _mm256_loadu_ps(mean + i % 24),
                                    _mm256_loadu_ps(scale + i % 24));
    if (i + 8 <= count) {
      store(values, to + i);
    } else {
      store_some(values, count - i, to + i);
    }
  }
}

}  // namespace

const WriterKernelSet* avx2_writer_kernels() {
  static constexpr WriterKernelSet kAvx2{{avx2_planes<float>, avx2_flat<float>},
                                         {avx2_planes<std::uint16_t>, avx2_flat<std::uint16_t>}};
  return has_avx2() ? &kAvx2 : nullptr;
}

}  // namespace proa::image
