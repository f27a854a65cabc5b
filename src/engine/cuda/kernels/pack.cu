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

}  // namespace

cudaError_t launch_pack(Source x, bool planes, int n, int h, int w, int c, const float* scale,
                        const float* shift, void* y, Number y_type, cudaStream_t stream) {
  const std::int64_t plane = static_cast<std::int64_t>(h) * w;
  const PackShape shape{n * plane, plane, c, planes};
  return launch(pack_kernel, shape.pixels, 256, stream, x, shape, scale, shift, y, y_type);
}

}  // namespace proa::engine::cuda
