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

// Calls `work` with a pointer to the numbers of a picture of that type.
template <class Work>
__device__ __forceinline__ void with_type(Number type, const Work& work) {
  if (type == Number::kFloat) {
    work(static_cast<const float*>(nullptr));
  } else if (type == Number::kHalf) {
    work(static_cast<const __half*>(nullptr));
  } else {
    work(static_cast<const std::uint8_t*>(nullptr));
  }
}
__device__ __forceinline__ int bytes_of(Number type) {
  return type == Number::kFloat ? 4 : type == Number::kHalf ? 2 : 1;
}

__device__ __forceinline__ uint2 pack_pixel(float x0, float x1, float x2, float x3) {
  const __half2 low = __floats2half2_rn(x0, x1), high = __floats2half2_rn(x2, x3);
  return make_uint2(*reinterpret_cast<const unsigned*>(&low),
                    *reinterpret_cast<const unsigned*>(&high));
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
  const T* first = x + static_cast<std::int64_t>(part.n * p.c) * plane;
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
        numbers[j][c] = T{};  // or registers would keep the last one's
        if (inside[j] && c < p.c) {
          numbers[j][c] = first[kPlanes ? c * plane + pixel : pixel * p.c + c];
        }
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
      reinterpret_cast<uint2*>(to)[i] = pack_pixel(packed[0], packed[1], packed[2], packed[3]);
    }
  }
}

// Twelve numbers of three loads, as floats by channel: four neighbouring pixels of three channels.
template <class T, bool kPlanes>
__device__ __forceinline__ void read_quad(const T* from, int plane, float (&numbers)[3][4]) {
  if constexpr (kPlanes) {
#pragma unroll
    for (int c = 0; c < 3; ++c) load_four(from + c * plane, numbers[c]);
  } else {
    float all[3][4];
#pragma unroll
    for (int i = 0; i < 3; ++i) load_four(from + 4 * i, all[i]);
#pragma unroll
    for (int i = 0; i < 12; ++i) numbers[i % 3][i / 3] = all[i / 4][i % 4];
  }
}

__device__ __forceinline__ void normalise_quad(const Normalisation& normal,
                                               float (&numbers)[3][4]) {
#pragma unroll
  for (int c = 0; c < 3; ++c) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      numbers[c][k] = numbers[c][k] * normal.scale[c] + normal.shift[c];
    }
  }
}

// Writes those of four pixels that lie in the row `to` of `columns`, an even number.
__device__ __forceinline__ void store_quad(const float (&numbers)[3][4], int column, int columns,
                                           uint2* to) {
  uint2 pixels[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    pixels[k] = pack_pixel(numbers[0][k], numbers[1][k], numbers[2][k], 0.0f);
  }
  if (column % 2 == 0) {  // two at a time
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      if (column + k < 0 || column + k >= columns) continue;
      *reinterpret_cast<uint4*>(to + column + k) =
          make_uint4(pixels[k].x, pixels[k].y, pixels[k + 1].x, pixels[k + 1].y);
    }
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (column + k >= 0 && column + k < columns) to[column + k] = pixels[k];
  }
}

// The same as load_picture for three channels and pictures whose rows are whole quads of pixels: a
// thread brings the quads that the rectangle touches, three loads for four pixels, `kQuads` in
// flight at once.
template <int kQuads, class T, bool kPlanes, class RowOf>
__device__ __forceinline__ void load_picture_quads(const Picture& p, const Normalisation& normal,
                                                   const Rectangle<RowOf>& part, int threads,
                                                   unsigned char* to) {
  const int plane = p.h * p.w;
  const T* first = static_cast<const T*>(p.x.data) + static_cast<std::int64_t>(part.n * 3) * plane;
  const int begin = part.left & ~3;  // rounds down, also below 0
  const int quads = (part.left + part.columns - begin + 3) / 4, total = part.rows * quads;
  const Divider row_of(quads);
  for (int base = static_cast<int>(threadIdx.x); base < total; base += kQuads * threads) {
    float numbers[kQuads][3][4] = {};
    bool inside[kQuads];
#pragma unroll
    for (int j = 0; j < kQuads; ++j) {
      const int i = base + j * threads, row = row_of.divide(i);
      const int h = part.top + row, w = begin + (i - row * quads) * 4;
      inside[j] = i < total && h >= 0 && h < p.h && w >= 0 && w < p.w;
      if (!inside[j]) continue;
      const int pixel = h * p.w + w;
      read_quad<T, kPlanes>(first + (kPlanes ? pixel : 3 * pixel), plane, numbers[j]);
    }
#pragma unroll
    for (int j = 0; j < kQuads; ++j) {
      const int i = base + j * threads, row = row_of.divide(i);
      if (i >= total) break;
      if (inside[j]) normalise_quad(normal, numbers[j]);
      store_quad(numbers[j], begin + (i - row * quads) * 4 - part.left, part.columns,
                 reinterpret_cast<uint2*>(to) + row * part.columns);
    }
  }
}

// Does it where it can: true.
template <int kQuads, class RowOf>
__device__ __forceinline__ bool load_quads(const Picture& p, const Normalisation& normal,
                                           const Rectangle<RowOf>& part, int threads,
                                           unsigned char* to) {
  if (p.c != 3 || p.w % 4 != 0) return false;
  const auto load = [&]<class T>(const T*) {
    if (p.planes) {
      load_picture_quads<kQuads, T, true>(p, normal, part, threads, to);
    } else {
      load_picture_quads<kQuads, T, false>(p, normal, part, threads, to);
    }
  };
  with_type(p.x.type, load);
  return true;
}

// Brings a rectangle of any picture, in the fastest way. It must have an even number of columns.
template <int kQuads = 1, class RowOf>
__device__ __forceinline__ void load_any_picture(const Picture& p, const Normalisation& normal,
                                                 const Rectangle<RowOf>& part, int threads,
                                                 unsigned char* to) {
  if (load_quads<kQuads>(p, normal, part, threads, to)) return;
  const auto load = [&]<class T>(const T*) {
    if (p.planes) {
      load_picture<T, true>(p, normal, part, threads, to);
    } else {
      load_picture<T, false>(p, normal, part, threads, to);
    }
  };
  with_type(p.x.type, load);
}

// Asks for the part of the rectangle that lies in the picture to be brought nearer, a line each.
template <class RowOf>
__device__ __forceinline__ void prefetch_picture(const Picture& p, const Rectangle<RowOf>& part,
                                                 int threads) {
  constexpr int kLine = 128;
  const int planes = p.planes ? p.c : 1;
  const int top = max(part.top, 0), rows = min(part.top + part.rows, p.h) - top;
  const int left = max(part.left, 0), columns = min(part.left + part.columns, p.w) - left;
  const int pixel_bytes = bytes_of(p.x.type) * p.c / planes;
  const int run = columns * pixel_bytes, lines = (run + kLine - 1) / kLine + 1;
  const auto* first = static_cast<const unsigned char*>(p.x.data);
  for (int i = static_cast<int>(threadIdx.x); i < planes * rows * lines; i += threads) {
    const int line = i % lines, plane = i / lines / rows, row = i / lines % rows;
    const std::int64_t pixel =
        (static_cast<std::int64_t>(part.n * planes + plane) * p.h + top + row) * p.w + left;
    prefetch(first + pixel * pixel_bytes + min(line * kLine, run - 1));
  }
}

}  // namespace proa::engine::cuda
