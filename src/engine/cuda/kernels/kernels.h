#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/graph/op.h"

namespace proa::engine::cuda {

// Launchers of the engine's own kernels: plain functions that put one kernel on a stream. Pointers
// are device memory, dense, 16-byte aligned; the result is what the launch returned. All may be
// captured into a graph, and all but those of clusters (few_pixels) may start before the kernel in
// front has ended (they wait for it themselves): programmatic dependent launch, worth 10 to 20 % of
// a network at batch 1.
// This header is read by nvcc as C++20.

enum class Number : std::uint8_t { kHalf, kFloat, kUint8, kInt8, kInt32, kInt64 };

inline constexpr int kMaxRank = 6;

// Up to six extents, outermost first.
struct Extents {
  int rank = 0;
  std::int64_t size[kMaxRank] = {};
};

// Element strides of one operand as seen from the result; 0 where it broadcasts.
struct Strides {
  std::int64_t step[kMaxRank] = {};
};

struct Source {
  const void* data = nullptr;
  Number type = Number::kHalf;
  float max = std::numeric_limits<float>::infinity();  // larger numbers are read as this
};

// [N,H,W,C] convolution or window, in elements.
struct ConvShape {
  int n, h, w, c, k, r, s, p, q;
  int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups;
};
struct PoolShape {
  int n, h, w, c, p, q, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, pad_end_h, pad_end_w;
};

// What a device has.
struct DeviceLimits {
  int multiprocessors;
  std::size_t shared_bytes;  // that a block may take
};

// pack.cu: [N,C,H,W] or [N,H,W,C] (C <= 4) to [N,H,W,4]; `scale` and `shift` of C floats or null.
cudaError_t launch_pack(Source x, bool planes, int n, int h, int w, int c, const float* scale,
                        const float* shift, void* y, Number y_type, cudaStream_t stream);

// stem.cu: picture to [n, pooled_h, pooled_w, 64] through a 7x7 convolution by 2 (padded by 3),
// bias, optional relu, and a 3x3 pool by 2 (padded by 1), FP16 with FP32 sums. `weight` is
// [64,7,7,4] halves, `bias` 64 floats. Needs compute capability 8.0.
struct StemShape {
  int n, h, w, c;          // the picture
  int conv_h, conv_w;      // after the convolution
  int pooled_h, pooled_w;  // the result
  bool planes, relu;
};
// What a block makes at a time: pooled rows x columns.
enum class StemTile : std::uint8_t { k1x14, k4x14, k4x28, k7x28, k7x56 };
inline constexpr int kStemTiles = 5;
cudaError_t launch_stem(Source x, const void* weight, const float* bias, const float* scale,
                        const float* shift, void* y, const StemShape& shape, StemTile tile,
                        int multiprocessors, cudaStream_t stream);

// depthwise.cu: a filter of its own for each channel, kernel x kernel (3 or 5), by 1 or 2 both
// ways, NHWC FP16 with FP32 sums; c a multiple of 8. `weight` is [c, kernel, kernel], `bias` c
// floats or null; x is read as min(x, input_max).
struct DepthwiseShape {
  int n, h, w, c, p, q, kernel, stride, pad_h, pad_w;
};
struct DepthwiseWork {
  const void* weight;
  const float* bias;
  void* y;
  DepthwiseShape shape;
  float input_max;  // infinity: none
  Activation act;
};
// How work is cut: a thread makes rows x columns results of `vector` channels (2, 4 or 8), a block
// `chunk` channels; with tile_h > 0 that much of the result through shared memory, by
// threads of 8 channels.
struct DepthwiseTile {
  int rows, columns, vector, chunk;
  int tile_h = 0, tile_w = 0;
};
inline constexpr std::size_t kDepthwiseShared = 48 << 10;  // bytes that a block may take
std::size_t depthwise_shared_bytes(const DepthwiseShape& shape, const DepthwiseTile& tile);
cudaError_t launch_depthwise(const void* x, const DepthwiseWork& work, const DepthwiseTile& tile,
                             cudaStream_t stream);

// expand.cu: the same over act(conv1x1(x)), which it computes on the way and rounds to FP16: x is
// [n, h, w, channels], channels a multiple of 8; `weight` [c, channels] halves, `bias` c floats or
// null, `act` a bound or none. Needs compute capability 8.0.
struct ExpandTile {
  int rows, columns;   // results of a thread, for 8 channels
  int tile_h, tile_w;  // of a block
  int threads;         // of a block, up to 256
  int groups = 1;      // of 32 channels that a block makes one after another
};
inline constexpr std::size_t kExpandShared = 99 << 10;  // bytes that a block may take
std::size_t expand_shared_bytes(const DepthwiseShape& shape, int channels, const ExpandTile& tile);
cudaError_t launch_expand(const void* x, const void* weight, const float* bias, Activation act,
                          const DepthwiseWork& work, int channels, const ExpandTile& tile,
                          cudaStream_t stream);

// picture_depthwise.cu: the same over act(conv3x3(picture)), by 2 both ways, which it computes on
// the way and rounds to FP16. `weight` is [channels of the result, 3, 3, 4] halves. Needs compute
// capability 8.0.
struct PictureConv {
  Source x;
  const float* scale;  // of c channels, or null
  const float* shift;
  const void* weight;
  const float* bias;  // null: none
  int h, w, c;        // the picture; c <= 4
  bool planes;
  int pad_h, pad_w;
  Activation act;  // a bound or none
};
struct BlockTile {
  int rows, columns;   // results of a thread, for 8 channels
  int tile_h, tile_w;  // of a block
  int threads;         // of a block, up to 256
};
inline constexpr std::size_t kPictureShared = 64 << 10;  // bytes that a block may take
std::size_t picture_depthwise_shared_bytes(const DepthwiseShape& shape, const BlockTile& tile);
cudaError_t launch_picture_depthwise(const PictureConv& conv, const DepthwiseWork& work,
                                     const BlockTile& tile, int multiprocessors,
                                     cudaStream_t stream);

// block_end.cu: the 1x1 convolutions around the end of a residual block, NHWC FP16 with FP32 sums:
//   y = act(first + second + residual), z = next_act(next(y)),
// each a convolution with FP32 bias or none; z may be absent, where there is a second, and y need
// not be written; second or residual or both are absent. Pixel (p, q) of y reads pixel (p x stride,
// q x stride) of an input. Needs compute capability 8.0.
struct BlockEndShape {
  int n, p, q;                                           // the result
  int channels, second_channels, outputs, next_outputs;  // 0: there is none
};
struct BlockEndInput {
  const void* x;       // [n, h, w, channels] halves
  const void* weight;  // [outputs, channels] halves
  const float* bias;
  int h, w, stride;
};
struct BlockEndWork {
  BlockEndInput first, second;
  const void* residual;     // of y's shape, or null
  Activation act;           // a bound or none, as next_act
  void* y;                  // null: not wanted
  const void* next_weight;  // [next_outputs, outputs] halves
  const float* next_bias;
  Activation next_act;
  void* z;
};
enum class BlockEndWay : std::uint8_t {
  kHold,           // inputs in registers, weights in shared memory
  kTwoTiles,       // so, and a warp has 32 pixels at a time instead of 16
  kReadAgain,      // inputs read again for every 32 channels
  kStreamWeights,  // weights brought again for every tile, 32 channels at a time
};
struct BlockEndTile {
  int threads;  // of a block: a multiple of 32, up to block_end_threads()
  int slice;    // channels of y that a block makes, a multiple of 32; all of them where z is wanted
  BlockEndWay way = BlockEndWay::kHold;
  // What comes next is brought to shared memory meanwhile: for the first two ways, where z is
  // wanted and y has 128 channels or more.
  bool ahead = false;
};
// The most threads that a block may have, whatever tile.threads; 0: there is no kernel for it.
int block_end_threads(const BlockEndShape& shape, const BlockEndTile& tile);
std::size_t block_end_shared_bytes(const BlockEndShape& shape, const BlockEndTile& tile);
cudaError_t launch_block_end(const BlockEndWork& work, const BlockEndShape& shape,
                             const BlockEndTile& tile, const DeviceLimits& limits,
                             cudaStream_t stream);

// few_pixels.cu: y = act(convolution(x) + bias + residual) over few pixels, NHWC FP16 with FP32
// sums, any kernel, step and padding, no dilation, no groups; `bias` k floats or null, `residual`
// of y's shape or null. Needs compute capability 9.0 where the sums are split.
struct FewPixelsWork {
  const void* x;
  const void* weight;  // [k, r, s, c]
  const float* bias;
  const void* residual;
  Activation act;
  void* y;
};
// What a block makes: `outputs` channels (16 or 32, a divisor of k) of `rows` rows of a
// picture's result, up to kFewPixelsOfTile pixels, from 1 / `splits` (1, 2, 4 or 8) of the input
// channels: a power of two, at least 16.
struct FewPixelsTile {
  int rows, outputs, splits;
};
inline constexpr int kFewPixelsOfTile = 256;
std::size_t few_pixels_shared_bytes(const ConvShape& shape, const FewPixelsTile& tile);
cudaError_t launch_few_pixels(const FewPixelsWork& work, const ConvShape& shape,
                              const FewPixelsTile& tile, const DeviceLimits& limits,
                              cudaStream_t stream);

// few_rows.cu: y[rows, columns] = act(x[rows, inner] x weight[columns, inner] + bias) for up to
// kFewRows rows, FP16 with FP32 sums; inner a multiple of 8, `bias` columns floats or null, y in
// FP16 or FP32. `block` threads, a multiple of 32.
inline constexpr int kFewRows = 8;
cudaError_t launch_few_rows(const void* x, const void* weight, const float* bias, Activation act,
                            void* y, Number y_type, int rows, int columns, int inner, int block,
                            cudaStream_t stream);

// pool.cu: maxima, FP16, NHWC, c a multiple of 8.
cudaError_t launch_max_pool(const void* x, void* y, const PoolShape& shape, cudaStream_t stream);

// mean.cu: FP16 [n, inner, c] to [n, c], sums in FP32, c a multiple of 8; x is read as min(x,
// input_max).
cudaError_t launch_spatial_mean(const void* x, void* y, int n, int inner, int c, float input_max,
                                cudaStream_t stream);

// pointwise.cu: y = act(a) or act(a ? b) over `count` elements; FP16 or FP32.
enum class Spread : std::uint8_t { kFull, kVector, kScalar };  // how an operand covers the result
struct Operand {
  Source source;
  Spread spread = Spread::kFull;
};
cudaError_t launch_pointwise(Operand a, Operand b, bool has_b, BinaryKind kind, Activation act,
                             void* y, Number y_type, std::int64_t count, int channels,
                             cudaStream_t stream);

// reference.cu: any shape and type, one thread for each element, sums in FP32.
cudaError_t reference_conv(Source x, Source weight, Source bias, Source residual, Activation act,
                           const ConvShape& shape, bool planes, void* y, Number y_type,
                           cudaStream_t stream);
// y[batch, m, n]; the strides say where element (matrix, row, column) of a and b lies.
struct MatMulShape {
  int m, n, k;
  Extents batch;
  Strides a_batch, b_batch;
  std::int64_t a_row, a_column, b_row, b_column;
};
cudaError_t reference_matmul(Source a, Source b, Source bias, Source residual, Activation act,
                             const MatMulShape& shape, void* y, Number y_type, cudaStream_t stream);
// y = act(a) or act(a ? b), each operand through its own strides: broadcasts, transposes, converts.
cudaError_t reference_map(Source a, Strides a_strides, Source b, Strides b_strides, bool has_b,
                          BinaryKind kind, Activation act, const Extents& extents, void* y,
                          Number y_type, cudaStream_t stream);
// Reduces the inner extents at every point of the outer ones.
cudaError_t reference_reduce(Source x, const Extents& outer, Strides outer_strides,
                             const Extents& inner, Strides inner_strides, ReduceKind kind, void* y,
                             Number y_type, cudaStream_t stream);
cudaError_t reference_pool(Source x, const PoolShape& shape, bool planes, bool maximum,
                           bool count_padding, void* y, Number y_type, cudaStream_t stream);
// The same as launch_stem.
cudaError_t reference_stem(Source x, Source weight, Source bias, Source scale, Source shift,
                           const StemShape& shape, void* y, cudaStream_t stream);
// y of `extents` holds x, of `inner` extents, from element `begin` on, and `value` around it.
cudaError_t reference_pad(Source x, const Extents& inner, const Extents& begin,
                          const Extents& extents, float value, void* y, Number y_type,
                          cudaStream_t stream);
// Numbers of one pixel lie `inner` elements apart, `channels` of them; `size` is odd.
struct LrnShape {
  std::int64_t inner;
  int channels, size;
  float alpha, beta, bias;
};
cudaError_t reference_lrn(Source x, const LrnShape& shape, void* y, Number y_type,
                          std::int64_t count, cudaStream_t stream);
// Rows of `extent` numbers that lie `inner` apart.
cudaError_t reference_softmax(Source x, std::int64_t rows, int extent, std::int64_t inner, void* y,
                              Number y_type, cudaStream_t stream);
// Copies [outer, run] into the columns [offset, offset + run) of [outer, y_run].
cudaError_t reference_concat(Source x, std::int64_t outer, std::int64_t run, std::int64_t y_run,
                             std::int64_t offset, void* y, Number y_type, cudaStream_t stream);

// check.cu: adds to sums[0] the squared differences of a and b, to sums[1] the squares of b, to
// sums[2] how many differ in being finite. `sums` is device memory of three floats.
cudaError_t launch_compare(Source a, Source b, std::int64_t count, float* sums,
                           cudaStream_t stream);
// Fills with numbers in [low, high), the same for the same seed.
cudaError_t launch_random(void* y, Number type, std::int64_t count, float low, float high,
                          std::uint64_t seed, cudaStream_t stream);

}  // namespace proa::engine::cuda
