// Plain kernels: one thread for each element of the result. What tuned kernels are checked against
// on the device, and what runs where nothing better fits.
#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kBlock = 128;

struct Epilogue {
  Source bias, residual;
  Activation act;
};

__device__ __forceinline__ float finish(const Epilogue& e, float sum, std::int64_t channel,
                                        std::int64_t element) {
  if (e.bias.data != nullptr) sum += load(e.bias, channel);
  if (e.residual.data != nullptr) sum += load(e.residual, element);
  return apply_on_device(e.act, sum);
}

// Where the element number `index` of `extents` lies through `strides`.
__device__ __forceinline__ std::int64_t offset_of(const Extents& extents, const Strides& strides,
                                                  std::int64_t index) {
  std::int64_t offset = 0;
  for (int d = extents.rank - 1; d >= 0; --d) {
    offset += index % extents.size[d] * strides.step[d];
    index /= extents.size[d];
  }
  return offset;
}

struct Pixel {
  std::int64_t n;
  int c, h, w;
};
__device__ __forceinline__ Pixel pixel_of(std::int64_t i, bool planes, int c, int h, int w) {
  Pixel at;
  if (planes) {
    at.w = static_cast<int>(i % w);
    at.h = static_cast<int>(i / w % h);
    at.c = static_cast<int>(i / w / h % c);
  } else {
    at.c = static_cast<int>(i % c);
    at.w = static_cast<int>(i / c % w);
    at.h = static_cast<int>(i / c / w % h);
  }
  at.n = i / (static_cast<std::int64_t>(c) * h * w);
  return at;
}
__device__ __forceinline__ std::int64_t index_of(std::int64_t n, int c, int h, int w, bool planes,
                                                 int channels, int height, int width) {
  return planes ? ((n * channels + c) * height + h) * width + w
                : ((n * height + h) * width + w) * channels + c;
}

__global__ void conv_kernel(Source x, Source weight, Epilogue epilogue, ConvShape s, bool planes,
                            void* y, Number y_type, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pixel at = pixel_of(i, planes, s.k, s.p, s.q);
  const int group_in = s.c / s.groups;
  const int first = at.c / (s.k / s.groups) * group_in;
  float sum = 0;
  for (int r = 0; r < s.r; ++r) {
    const int h = at.h * s.stride_h - s.pad_h + r * s.dilation_h;
    if (h < 0 || h >= s.h) continue;
    for (int t = 0; t < s.s; ++t) {
      const int w = at.w * s.stride_w - s.pad_w + t * s.dilation_w;
      if (w < 0 || w >= s.w) continue;
      for (int c = 0; c < group_in; ++c) {
        sum += load(x, index_of(at.n, first + c, h, w, planes, s.c, s.h, s.w)) *
               load(weight, index_of(at.c, c, r, t, planes, group_in, s.r, s.s));
      }
    }
  }
  store(y, y_type, i, finish(epilogue, sum, at.c, i));
}

__global__ void matmul_kernel(Source a, Source b, Epilogue epilogue, MatMulShape s, void* y,
                              Number y_type, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const std::int64_t column = i % s.n, row = i / s.n % s.m, matrix = i / s.n / s.m;
  const std::int64_t left = offset_of(s.batch, s.a_batch, matrix) + row * s.a_row;
  const std::int64_t right = offset_of(s.batch, s.b_batch, matrix) + column * s.b_column;
  float sum = 0;
  for (int k = 0; k < s.k; ++k) {
    sum += load(a, left + k * s.a_column) * load(b, right + k * s.b_row);
  }
  store(y, y_type, i, finish(epilogue, sum, column, i));
}

struct MapOperand {
  Source source;
  Strides strides;
};

__global__ void map_kernel(MapOperand a, MapOperand b, bool has_b, BinaryKind kind, Activation act,
                           Extents extents, void* y, Number y_type, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  float x = load(a.source, offset_of(extents, a.strides, i));
  if (has_b) x = combine(kind, x, load(b.source, offset_of(extents, b.strides, i)));
  store(y, y_type, i, apply_on_device(act, x));
}

__global__ void reduce_kernel(Source x, Extents outer, Strides outer_strides, Extents inner,
                              Strides inner_strides, ReduceKind kind, void* y, Number y_type,
                              std::int64_t count, std::int64_t length) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const std::int64_t first = offset_of(outer, outer_strides, i);
  float result = kind == ReduceKind::kMax ? -INFINITY : 0.0f;
  for (std::int64_t j = 0; j < length; ++j) {
    const float number = load(x, first + offset_of(inner, inner_strides, j));
    result = kind == ReduceKind::kMax ? fmaxf(result, number) : result + number;
  }
  if (kind == ReduceKind::kMean) result /= static_cast<float>(length);
  store(y, y_type, i, result);
}

__global__ void pool_kernel(Source x, PoolShape s, bool planes, bool maximum, bool count_padding,
                            void* y, Number y_type, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pixel at = pixel_of(i, planes, s.c, s.p, s.q);
  const int top = at.h * s.stride_h - s.pad_h, left = at.w * s.stride_w - s.pad_w;
  const int h0 = max(top, 0), h1 = min(top + s.kernel_h, s.h);
  const int w0 = max(left, 0), w1 = min(left + s.kernel_w, s.w);
  float result = maximum ? -INFINITY : 0.0f;
  for (int h = h0; h < h1; ++h) {
    for (int w = w0; w < w1; ++w) {
      const float number = load(x, index_of(at.n, at.c, h, w, planes, s.c, s.h, s.w));
      result = maximum ? fmaxf(result, number) : result + number;
    }
  }
  const int counted = count_padding ? (min(top + s.kernel_h, s.h + s.pad_end_h) - top) *
                                          (min(left + s.kernel_w, s.w + s.pad_end_w) - left)
                                    : (h1 - h0) * (w1 - w0);
  store(y, y_type, i, maximum ? result : result / static_cast<float>(counted));
}

struct StemSources {
  Source x, weight, bias, scale, shift;
};

// The convolution of one pixel and channel, over packed FP16 numbers.
__device__ float stem_sum(const StemSources& s, const StemShape& shape, std::int64_t n, int p,
                          int q, int k) {
  float sum = load(s.bias, k);
  for (int r = 0; r < 7; ++r) {
    for (int t = 0; t < 7; ++t) {
      const int h = 2 * p - 3 + r, w = 2 * q - 3 + t;
      if (h < 0 || h >= shape.h || w < 0 || w >= shape.w) continue;
      for (int c = 0; c < shape.c; ++c) {
        float number = load(s.x, index_of(n, c, h, w, shape.planes, shape.c, shape.h, shape.w));
        if (s.scale.data != nullptr) number *= load(s.scale, c);
        if (s.shift.data != nullptr) number += load(s.shift, c);
        sum +=
            __half2float(__float2half_rn(number)) * load(s.weight, ((k * 7 + r) * 7 + t) * 4 + c);
      }
    }
  }
  return shape.relu ? fmaxf(sum, 0.0f) : sum;
}

__global__ void stem_kernel(StemSources s, StemShape shape, void* y, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const Pixel at = pixel_of(i, false, 64, shape.pooled_h, shape.pooled_w);
  float best = -INFINITY;
  for (int p = max(2 * at.h - 1, 0); p < min(2 * at.h + 2, shape.conv_h); ++p) {
    for (int q = max(2 * at.w - 1, 0); q < min(2 * at.w + 2, shape.conv_w); ++q) {
      best = fmaxf(best, stem_sum(s, shape, at.n, p, q, at.c));
    }
  }
  store(y, Number::kHalf, i, best);
}

__global__ void pad_kernel(Source x, Extents inner, Extents begin, Extents extents, float value,
                           void* y, Number y_type, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  std::int64_t rest = i, offset = 0, step = 1;
  bool inside = true;
  for (int d = extents.rank - 1; d >= 0; --d) {
    const std::int64_t at = rest % extents.size[d] - begin.size[d];
    rest /= extents.size[d];
    inside &= at >= 0 && at < inner.size[d];
    offset += at * step;
    step *= inner.size[d];
  }
  store(y, y_type, i, inside ? load(x, offset) : value);
}

__global__ void lrn_kernel(Source x, LrnShape s, void* y, Number y_type, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const int channel = static_cast<int>(i / s.inner % s.channels);
  const int first = max(channel - s.size / 2, 0);
  const int end = min(channel + s.size / 2 + 1, s.channels);
  float sum = 0;
  for (int c = first; c < end; ++c) {
    const float number = load(x, i + (c - channel) * s.inner);
    sum += number * number;
  }
  const float scale = s.bias + s.alpha / static_cast<float>(s.size) * sum;
  store(y, y_type, i, load(x, i) / powf(scale, s.beta));
}

__global__ void softmax_kernel(Source x, std::int64_t rows, int extent, std::int64_t inner, void* y,
                               Number y_type) {
  wait_for_inputs();
  const std::int64_t row = thread_index();
  if (row >= rows) return;
  const std::int64_t first = row / inner * inner * extent + row % inner;
  float highest = -INFINITY;
  for (int i = 0; i < extent; ++i) highest = fmaxf(highest, load(x, first + i * inner));
  float sum = 0;
  for (int i = 0; i < extent; ++i) sum += expf(load(x, first + i * inner) - highest);
  for (int i = 0; i < extent; ++i) {
    store(y, y_type, first + i * inner, expf(load(x, first + i * inner) - highest) / sum);
  }
}

__global__ void concat_kernel(Source x, std::int64_t run, std::int64_t y_run, std::int64_t offset,
                              void* y, Number y_type, std::int64_t count) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= count) return;
  store(y, y_type, i / run * y_run + offset + i % run, load(x, i));
}

std::int64_t count_of(const Extents& extents) {
  std::int64_t count = 1;
  for (int d = 0; d < extents.rank; ++d) count *= extents.size[d];
  return count;
}

}  // namespace

cudaError_t reference_conv(Source x, Source weight, Source bias, Source residual, Activation act,
                           const ConvShape& shape, bool planes, void* y, Number y_type,
                           cudaStream_t stream) {
  const std::int64_t count = static_cast<std::int64_t>(shape.n) * shape.k * shape.p * shape.q;
  return launch(conv_kernel, count, kBlock, stream, x, weight, Epilogue{bias, residual, act}, shape,
                planes, y, y_type, count);
}

cudaError_t reference_matmul(Source a, Source b, Source bias, Source residual, Activation act,
                             const MatMulShape& shape, void* y, Number y_type,
                             cudaStream_t stream) {
  const std::int64_t count = count_of(shape.batch) * shape.m * shape.n;
  return launch(matmul_kernel, count, kBlock, stream, a, b, Epilogue{bias, residual, act}, shape, y,
                y_type, count);
}

cudaError_t reference_map(Source a, Strides a_strides, Source b, Strides b_strides, bool has_b,
                          BinaryKind kind, Activation act, const Extents& extents, void* y,
                          Number y_type, cudaStream_t stream) {
  const std::int64_t count = count_of(extents);
  return launch(map_kernel, count, kBlock, stream, MapOperand{a, a_strides},
                MapOperand{b, b_strides}, has_b, kind, act, extents, y, y_type, count);
}

cudaError_t reference_reduce(Source x, const Extents& outer, Strides outer_strides,
                             const Extents& inner, Strides inner_strides, ReduceKind kind, void* y,
                             Number y_type, cudaStream_t stream) {
  const std::int64_t count = count_of(outer);
  return launch(reduce_kernel, count, kBlock, stream, x, outer, outer_strides, inner, inner_strides,
                kind, y, y_type, count, count_of(inner));
}

cudaError_t reference_pool(Source x, const PoolShape& shape, bool planes, bool maximum,
                           bool count_padding, void* y, Number y_type, cudaStream_t stream) {
  const std::int64_t count = static_cast<std::int64_t>(shape.n) * shape.c * shape.p * shape.q;
  return launch(pool_kernel, count, kBlock, stream, x, shape, planes, maximum, count_padding, y,
                y_type, count);
}

cudaError_t reference_stem(Source x, Source weight, Source bias, Source scale, Source shift,
                           const StemShape& shape, void* y, cudaStream_t stream) {
  const std::int64_t count =
      static_cast<std::int64_t>(shape.n) * shape.pooled_h * shape.pooled_w * 64;
  return launch(stem_kernel, count, kBlock, stream, StemSources{x, weight, bias, scale, shift},
                shape, y, count);
}

cudaError_t reference_pad(Source x, const Extents& inner, const Extents& begin,
                          const Extents& extents, float value, void* y, Number y_type,
                          cudaStream_t stream) {
  const std::int64_t count = count_of(extents);
  return launch(pad_kernel, count, kBlock, stream, x, inner, begin, extents, value, y, y_type,
                count);
}

cudaError_t reference_lrn(Source x, const LrnShape& shape, void* y, Number y_type,
                          std::int64_t count, cudaStream_t stream) {
  return launch(lrn_kernel, count, kBlock, stream, x, shape, y, y_type, count);
}

cudaError_t reference_softmax(Source x, std::int64_t rows, int extent, std::int64_t inner, void* y,
                              Number y_type, cudaStream_t stream) {
  return launch(softmax_kernel, rows, kBlock, stream, x, rows, extent, inner, y, y_type);
}

cudaError_t reference_concat(Source x, std::int64_t outer, std::int64_t run, std::int64_t y_run,
                             std::int64_t offset, void* y, Number y_type, cudaStream_t stream) {
  const std::int64_t count = outer * run;
  return launch(concat_kernel, count, kBlock, stream, x, run, y_run, offset, y, y_type, count);
}

}  // namespace proa::engine::cuda
