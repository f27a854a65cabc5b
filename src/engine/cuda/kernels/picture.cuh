// Reads rectangles of pictures of any number type, as planes or pixels, into shared memory as four
// halves a pixel, normalised, for the kernels that begin a network.
#pragma once

#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {

struct Picture {
  Source x;
  const float* scale;  // of `c` channels, or null
  const float* shift;
  int h, w, c;  // c <= 4
  bool planes;
};

// Loads in flight at once for each thread: the picture comes from far away.
constexpr int kPictureLoads = 3;

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
__device__ __forceinline__ float to_float(std::uint8_t x) { return x; }

// Scale and shift of each channel, in registers.
struct Normalisation {
  float scale[4], shift[4];
};
__device__ __forceinline__ Normalisation read_normalisation(const Picture& p) {
  Normalisation normal;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    normal.scale[c] = p.scale != nullptr && c < p.c ? p.scale[c] : 1.0f;
    normal.shift[c] = p.shift != nullptr && c < p.c ? p.shift[c] : 0.0f;
  }
  return normal;
}

// A rectangle of a picture; may reach beyond it. `row_of(i)` is i / columns.
template <class RowOf>
struct Rectangle {
  int n, top, left, rows, columns;
  RowOf row_of;
};

// Brings it into shared memory by `threads` threads, zero outside of the picture.
template <class T, bool kPlanes, class RowOf>
__device__ __forceinline__ void load_picture(const Picture& p, const Normalisation& normal,
                                             const Rectangle<RowOf>& part, int threads,
                                             unsigned char* to) {
  const auto* x = static_cast<const T*>(p.x.data);
  const int plane = p.h * p.w;
  const T* first = x + static_cast<std::int64_t>(part.n) * p.c * plane;
  const int total = part.rows * part.columns;
  for (int base = static_cast<int>(threadIdx.x); base < total; base += kPictureLoads * threads) {
    T numbers[kPictureLoads][4];
    bool inside[kPictureLoads];
#pragma unroll
    for (int j = 0; j < kPictureLoads; ++j) {
      const int i = base + j * threads;
      const int row = part.row_of(i);
      const int h = part.top + row, w = part.left + i - row * part.columns;
      inside[j] = i < total && h >= 0 && h < p.h && w >= 0 && w < p.w;
      const int pixel = h * p.w + w;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        if (inside[j] && c < p.c)
          numbers[j][c] = first[kPlanes ? c * plane + pixel : pixel * p.c + c];
      }
    }
#pragma unroll
    for (int j = 0; j < kPictureLoads; ++j) {
      const int i = base + j * threads;
      if (i >= total) break;
      float packed[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        packed[c] = inside[j] && c < p.c
                        ? to_float(numbers[j][c]) * normal.scale[c] + normal.shift[c]
                        : 0.0f;
      }
      const __half2 low = __floats2half2_rn(packed[0], packed[1]);
      const __half2 high = __floats2half2_rn(packed[2], packed[3]);
      reinterpret_cast<uint2*>(to)[i] = make_uint2(*reinterpret_cast<const unsigned*>(&low),
                                                   *reinterpret_cast<const unsigned*>(&high));
    }
  }
}

template <class RowOf>
__device__ __forceinline__ void load_any_picture(const Picture& p, const Normalisation& normal,
                                                 const Rectangle<RowOf>& part, int threads,
                                                 unsigned char* to) {
  const auto load = [&]<class T>(const T*) {
    if (p.planes) {
      load_picture<T, true>(p, normal, part, threads, to);
    } else {
      load_picture<T, false>(p, normal, part, threads, to);
    }
  };
  if (p.x.type == Number::kFloat) {
    load(static_cast<const float*>(nullptr));
  } else if (p.x.type == Number::kHalf) {
    load(static_cast<const __half*>(nullptr));
  } else {
    load(static_cast<const std::uint8_t*>(nullptr));
  }
}

// The same as load_picture for three planes whose rows are whole quads of pixels: a thread brings
// the quads that the rectangle touches, three loads for four pixels.
template <class T, class RowOf>
__device__ __forceinline__ void load_plane_quads(const Picture& p, const Normalisation& normal,
                                                 const Rectangle<RowOf>& part, int threads,
                                                 unsigned char* to) {
  const int plane = p.h * p.w;
  const T* first = static_cast<const T*>(p.x.data) + static_cast<std::int64_t>(part.n) * 3 * plane;
  const int begin = part.left & ~3;  // rounds down, also below 0
  const int quads = (part.left + part.columns - begin + 3) / 4;
  const float inverse = 1.0f / static_cast<float>(quads);
  for (int i = static_cast<int>(threadIdx.x); i < part.rows * quads; i += threads) {
    const int row = static_cast<int>((static_cast<float>(i) + 0.5f) * inverse);
    const int h = part.top + row, w = begin + (i - row * quads) * 4;
    const bool inside = h >= 0 && h < p.h && w >= 0 && w < p.w;
    float numbers[3][4] = {};
    if (inside) {
      const T* from = first + h * p.w + w;
#pragma unroll
      for (int c = 0; c < 3; ++c) load_four(from + c * plane, numbers[c]);
#pragma unroll
      for (int c = 0; c < 3; ++c) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          numbers[c][k] = numbers[c][k] * normal.scale[c] + normal.shift[c];
        }
      }
    }
    const int column = w - part.left;
    auto* pixels = reinterpret_cast<uint2*>(to) + row * part.columns + column;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (column + k < 0 || column + k >= part.columns) continue;
      const __half2 low = __floats2half2_rn(numbers[0][k], numbers[1][k]);
      const __half2 high = __floats2half2_rn(numbers[2][k], 0.0f);
      pixels[k] = make_uint2(*reinterpret_cast<const unsigned*>(&low),
                             *reinterpret_cast<const unsigned*>(&high));
    }
  }
}

// Does it where it can: true.
template <class RowOf>
__device__ __forceinline__ bool load_quads(const Picture& p, const Normalisation& normal,
                                           const Rectangle<RowOf>& part, int threads,
                                           unsigned char* to) {
  if (!p.planes || p.c != 3 || p.w % 4 != 0) return false;
  if (p.x.type == Number::kFloat) {
    load_plane_quads<float>(p, normal, part, threads, to);
  } else if (p.x.type == Number::kHalf) {
    load_plane_quads<__half>(p, normal, part, threads, to);
  } else {
    load_plane_quads<std::uint8_t>(p, normal, part, threads, to);
  }
  return true;
}

}  // namespace proa::engine::cuda
