#include <immintrin.h>

#include "image/simd.h"

#define PROA_SIMD PROA_VNNI

namespace proa::image {
namespace {

PROA_SIMD inline __m256i add_products(__m256i sum, __m256i pairs, __m256i weights) {
  return _mm256_dpwssd_epi32(sum, pairs, weights);
}

}  // namespace
}  // namespace proa::image

#include "image/resample_kernels_simd.h"

namespace proa::image {

const ResampleKernels* vnni_resample_kernels() { return has_vnni() ? &kSimdKernels : nullptr; }

}  // namespace proa::image
