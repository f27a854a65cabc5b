#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

struct PackShape {
  std::int64_t pixels;  // of the whole batch
  std::int64_t plane;   // pixels of one picture
  int channels;
  bool planes;
};

// One thread makes one pixel of four channels.
__global__ void pack_kernel(Source x, PackShape shape, const float* scale, const float* shift,
                            void* y, Number y_type) {
  wait_for_inputs();
  const std::int64_t pixel = thread_index();
  if (pixel >= shape.pixels) return;
  const std::int64_t picture = pixel / shape.plane;
  const std::int64_t first = shape.planes
                                 ? picture * shape.plane * shape.channels + pixel % shape.plane
                                 : pixel * shape.channels;
  const std::int64_t step = shape.planes ? shape.plane : 1;
  float numbers[4] = {0, 0, 0, 0};
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    if (c >= shape.channels) break;
    numbers[c] = load(x, first + c * step);
    if (scale != nullptr) numbers[c] *= scale[c];
    if (shift != nullptr) numbers[c] += shift[c];
  }
  if (y_type == Number::kHalf) {
    const __half2 low = __floats2half2_rn(numbers[0], numbers[1]);
    const __half2 high = __floats2half2_rn(numbers[2], numbers[3]);
    uint2 packed;
    packed.x = *reinterpret_cast<const unsigned*>(&low);
    packed.y = *reinterpret_cast<const unsigned*>(&high);
    static_cast<uint2*>(y)[pixel] = packed;
  } else {
    static_cast<float4*>(y)[pixel] = make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
  }
}

// One thread makes four pixels of three colours, FP16: three vector loads, two vector stores.
template <class T, bool planes>
__global__ void pack_quad_kernel(const T* x, std::int64_t quads, std::int64_t plane,
                                 const float* scale, const float* shift, uint4* y) {
  wait_for_inputs();
  const std::int64_t quad = thread_index();
  if (quad >= quads) return;
  float numbers[12];  // [colour][pixel] of planes, else [pixel][colour]
  const std::int64_t picture = quad / (plane / 4);
  const T* from = planes ? x + picture * 2 * plane + quad * 4 : x + quad * 12;
#pragma unroll
  for (int i = 0; i < 3; ++i) load_four(from + (planes ? i * plane : i * 4), numbers + 4 * i);
  float pixels[4][4] = {};
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    const float factor = scale == nullptr ? 1.0f : scale[c];
    const float offset = shift == nullptr ? 0.0f : shift[c];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      pixels[k][c] = numbers[planes ? 4 * c + k : 3 * k + c] * factor + offset;
    }
  }
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    uint4 packed;
    auto* pairs = reinterpret_cast<__half2*>(&packed);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* two = &pixels[2 * k + i / 2][i % 2 * 2];
      pairs[i] = __floats2half2_rn(two[0], two[1]);
    }
    y[quad * 2 + k] = packed;
  }
}

template <class T>
cudaError_t launch_quads(const void* x, bool planes, std::int64_t pixels, std::int64_t plane,
                         const float* scale, const float* shift, void* y, cudaStream_t stream) {
  const auto kernel = planes ? pack_quad_kernel<T, true> : pack_quad_kernel<T, false>;
  return launch(kernel, pixels / 4, 256, stream, static_cast<const T*>(x), pixels / 4, plane, scale,
                shift, static_cast<uint4*>(y));
}

}  // namespace

cudaError_t launch_pack(Source x, bool planes, int n, int h, int w, int c, const float* scale,
                        const float* shift, void* y, Number y_type, cudaStream_t stream) {
  const std::int64_t plane = static_cast<std::int64_t>(h) * w;
  if (c == 3 && plane % 4 == 0 && y_type == Number::kHalf) {
    switch (x.type) {
      case Number::kFloat:
        return launch_quads<float>(x.data, planes, n * plane, plane, scale, shift, y, stream);
      case Number::kHalf:
        return launch_quads<__half>(x.data, planes, n * plane, plane, scale, shift, y, stream);
      case Number::kUint8:
        return launch_quads<std::uint8_t>(x.data, planes, n * plane, plane, scale, shift, y,
                                          stream);
      default:
        break;
    }
  }
  const PackShape shape{n * plane, plane, c, planes};
  return launch(pack_kernel, shape.pixels, 256, stream, x, shape, scale, shift, y, y_type);
}

}  // namespace proa::engine::cuda
