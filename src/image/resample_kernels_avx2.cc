#include <immintrin.h>

#include "image/simd.h"

#define PROA_SIMD PROA_AVX2

namespace proa::image {
namespace {

PROA_SIMD inline __m256i add_products(__m256i sum, __m256i pairs, __m256i weights) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, weights));
}

}  // namespace
}  // namespace proa::image

#include "image/resample_kernels_simd.h"

namespace proa::image {

const ResampleKernels* avx2_resample_kernels() { return has_avx2() ? &kSimdKernels : nullptr; }

}  // namespace proa::image
