// Matrix products of a few rows: bound by the weights, which are read once for all rows. A warp
// makes one column of the result. Weights are constants, so the first of them are on their way
// before the kernel in front has ended.
#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kAhead = 8;  // 16-byte pieces of weights that a lane has in flight

struct FewRows {
  const uint4* x;       // [rows, pieces]
  const uint4* weight;  // [columns, pieces]
  const float* bias;    // null: none
  void* y;
  Number y_type;
  int rows, columns, pieces;
  Activation act;
};

__device__ __forceinline__ float dot(const uint4& a, const uint4& b, float sum) {
  const auto* x = reinterpret_cast<const __half2*>(&a);
  const auto* y = reinterpret_cast<const __half2*>(&b);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 left = __half22float2(x[i]), right = __half22float2(y[i]);
    sum = fmaf(left.x, right.x, sum);
    sum = fmaf(left.y, right.y, sum);
  }
  return sum;
}

template <int kRows>
__global__ void few_rows_kernel(FewRows f) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int column = static_cast<int>(thread_index() / 32);
  allow_next();
  if (column >= f.columns) return;
  const uint4* weight = f.weight + static_cast<std::int64_t>(column) * f.pieces;
  uint4 ahead[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    const int at = lane + i * 32;
    ahead[i] = at < f.pieces ? weight[at] : make_uint4(0, 0, 0, 0);
  }
  const float bias = f.bias != nullptr ? f.bias[column] : 0.0f;
  wait_for_previous();
  float sums[kRows] = {};
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    const int at = lane + i * 32;
    if (at >= f.pieces) break;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < f.rows) sums[r] = dot(f.x[r * f.pieces + at], ahead[i], sums[r]);
    }
  }
  for (int at = lane + kAhead * 32; at < f.pieces; at += 32) {
    const uint4 piece = weight[at];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < f.rows) sums[r] = dot(f.x[r * f.pieces + at], piece, sums[r]);
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sums[r] += __shfl_xor_sync(~0u, sums[r], step);
    if (lane == r && r < f.rows) {
      store(f.y, f.y_type, static_cast<std::int64_t>(r) * f.columns + column,
            apply_on_device(f.act, sums[r] + bias));
    }
  }
}

}  // namespace

cudaError_t launch_few_rows(const void* x, const void* weight, const float* bias, Activation act,
                            void* y, Number y_type, int rows, int columns, int inner, int block,
                            cudaStream_t stream) {
  const FewRows f{static_cast<const uint4*>(x),
                  static_cast<const uint4*>(weight),
                  bias,
                  y,
                  y_type,
                  rows,
                  columns,
                  inner / 8,
                  act};
  const auto kernel = rows <= 1   ? few_rows_kernel<1>
                      : rows <= 2 ? few_rows_kernel<2>
                      : rows <= 4 ? few_rows_kernel<4>
                                  : few_rows_kernel<8>;
  if (rows > kFewRows || inner % 8 != 0) return cudaErrorInvalidValue;
  return launch(kernel, static_cast<std::int64_t>(columns) * 32, block, stream, f);
}

}  // namespace proa::engine::cuda
