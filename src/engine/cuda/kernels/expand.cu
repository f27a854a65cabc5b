// A 1x1 convolution and the depthwise convolution that alone reads it, in one kernel: what lies
// between them, the largest tensor of such a block, never goes to memory.
//
// A block owns a tile of the result. It brings the pixels that the tile needs (with the rim that
// neighbours need too) and its weights into shared memory, then for each of its groups of 32
// channels computes the 1x1 convolution with the tensor cores into shared memory, FP16 as between
// two kernels, and convolves that. Rows in shared memory lie an odd number of 16-byte pieces apart,
// so that `ldmatrix` meets no bank twice.
#include <cuda_pipeline.h>

#include <algorithm>

#include "engine/cuda/kernels/depthwise_tile.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kMostThreads = 256;

struct Expand {
  const __half* x;
  const __half* weight;  // [channels of the result, c]
  const float* bias;     // null: none
  Between between;
  int c;
  int pitch;  // of a pixel and of a row of weights in shared memory, in 16-byte pieces
  int tile_h, tile_w;
  int groups;          // of 32 channels, that a block makes one after another
  int picture_pixels;  // of shared memory
  Depthwise depthwise;
};

// Which of 32 channels the row `slot` of the weights in shared memory holds: a lane of the matrix
// product then has 8 neighbouring channels in its four results.
__device__ __forceinline__ int channel_of(int slot) {
  return slot % 8 / 2 * 8 + slot / 8 * 2 + slot % 2;
}

__device__ __forceinline__ void copy_piece(uint4* to, const __half* from, bool there) {
  __pipeline_memcpy_async(to, from, 16, there ? 0 : 16);
}

__device__ __forceinline__ void load_expansion_weights(const Expand& e, int first, uint4* weights) {
  const int pieces = e.c / 8, total = e.groups * kTileChannels * pieces;
  const Divider row(pieces);
  for (int i = static_cast<int>(threadIdx.x); i < total; i += static_cast<int>(blockDim.x)) {
    const int slot = row.divide(i), piece = i - slot * pieces;
    const int channel =
        first + slot / kTileChannels * kTileChannels + channel_of(slot % kTileChannels);
    const bool there = channel < e.depthwise.shape.c;
    copy_piece(&weights[slot * e.pitch + piece], e.weight + (there ? channel * e.c + piece * 8 : 0),
               there);
  }
}

// The pixels inside of the picture, row by row.
__device__ __forceinline__ void load_pixels(const Expand& e, const Window& w, uint4* pixels) {
  const DepthwiseShape& s = e.depthwise.shape;
  const int pieces = e.c / 8, total = w.inside() * pieces;
  const Divider pixel_of(pieces), row_of(max(w.columns, 1));
  const __half* corner =
      e.x + ((static_cast<std::int64_t>(w.n) * s.h + w.first_row) * s.w + w.first_column) * e.c;
  for (int i = static_cast<int>(threadIdx.x); i < total; i += static_cast<int>(blockDim.x)) {
    const int pixel = pixel_of.divide(i), piece = i - pixel * pieces;
    const int row = row_of.divide(pixel), column = pixel - row * w.columns;
    copy_piece(&pixels[pixel * e.pitch + piece], corner + (row * s.w + column) * e.c + piece * 8,
               true);
  }
}

// Computes kTiles times 16 pixels from `first` on, 32 channels, and puts them where the window
// has them.
template <int kTiles>
__device__ __forceinline__ void expand_pixels(const Expand& e, const Window& w, int first,
                                              unsigned pixels, unsigned weights,
                                              const float (&bias)[8], const Divider& row_of,
                                              uint4* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sums[kTiles][4][4];
  unsigned a_at[kTiles];
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    const int pixel = min(first + i * 16 + lane % 16, w.inside() - 1);
    a_at[i] = pixels + static_cast<unsigned>(pixel * e.pitch * 16);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      sums[i][j][0] = sums[i][j][2] = bias[2 * j];
      sums[i][j][1] = sums[i][j][3] = bias[2 * j + 1];
    }
  }
  const unsigned half_step = static_cast<unsigned>(lane / 16 * 16);
  const unsigned b_at = weights + static_cast<unsigned>((lane / 16 * 8 + lane % 8) * e.pitch * 16 +
                                                        lane / 8 % 2 * 16);
  const int steps = e.c / 16;
#pragma unroll 2
  for (int step = 0; step < steps; ++step) {
    const unsigned at = static_cast<unsigned>(step * 32);
    unsigned b[2][4];
    load_matrix(b[0], b_at + at);
    load_matrix(b[1], b_at + at + static_cast<unsigned>(e.pitch * 256));
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      unsigned a[4];
      load_matrix(a, a_at[i] + at + half_step);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        multiply(sums[i][j], a, b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
  if (e.c % 16 != 0) {
    const unsigned at = static_cast<unsigned>(steps * 32);
    unsigned b[4];
    load_matrix(b, weights + static_cast<unsigned>(lane * e.pitch * 16) + at);
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      unsigned a[2];
      load_matrix(a, a_at[i] + at);
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply(sums[i][j], a, b[j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    store_products(e.between, w, first + i * 16, sums[i], row_of, tile);
  }
}

// One group of 32 channels from `channel` on, for all pixels of the window.
__device__ __forceinline__ void expand_group(const Expand& e, const Window& w, int channel,
                                             unsigned pixels, unsigned weights, uint4* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  float bias[8] = {};
  const int own = channel + lane % 4 * 8;
  if (e.bias != nullptr && own < e.depthwise.shape.c) load_floats<8>(e.bias + own, bias);
  const Divider row_of(max(w.columns, 1));
  const int tiles = (w.inside() + 15) / 16;
  if (tiles > warps) {  // two at a time read the weights once
    for (int i = 2 * warp; i < tiles; i += 2 * warps) {
      expand_pixels<2>(e, w, i * 16, pixels, weights, bias, row_of, tile);
    }
  } else if (warp < tiles) {
    expand_pixels<1>(e, w, warp * 16, pixels, weights, bias, row_of, tile);
  }
}

template <int K, int S, int TH, int TW>
__global__ void __launch_bounds__(kMostThreads, 2) expand_kernel(Expand e) {
  auto* shared = dynamic_shared<unsigned char>();
  const int window_pixels = ((e.tile_h - 1) * S + K) * ((e.tile_w - 1) * S + K);
  auto* tile = reinterpret_cast<uint4*>(shared);
  auto* pixels = tile + window_pixels * kTileVectors;
  auto* expansion = pixels + e.picture_pixels * e.pitch;
  auto* filters = reinterpret_cast<float*>(expansion + e.groups * kTileChannels * e.pitch);
  constexpr int kFilters = K * K * kTileChannels;  // floats of a group

  allow_next();
  const Window w =
      window_of<K, S>(e.depthwise.shape, e.tile_h, e.tile_w, static_cast<int>(blockIdx.x));
  const int first = static_cast<int>(blockIdx.y) * e.groups * kTileChannels;
  load_expansion_weights(e, first, expansion);
  load_weights<K, kTileChannels>(e.depthwise, first, e.groups * kTileChannels, filters);
  clear_border(w, tile);
  wait_for_previous();
  load_pixels(e, w, pixels);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  auto pixels_at = static_cast<unsigned>(__cvta_generic_to_shared(pixels));
  auto expansion_at = static_cast<unsigned>(__cvta_generic_to_shared(expansion));
  tie_to_memory(pixels_at);
  tie_to_memory(expansion_at);
  for (int g = 0; g < e.groups; ++g) {
    const int channel = first + g * kTileChannels;
    if (channel >= e.depthwise.shape.c) break;
    if (g > 0) __syncthreads();
    expand_group(e, w, channel, pixels_at,
                 expansion_at + static_cast<unsigned>(g * kTileChannels * e.pitch * 16), tile);
    __syncthreads();
    convolve_tile<K, S, TH, TW>(e.depthwise, w, e.tile_h, e.tile_w, channel, filters + g * kFilters,
                                tile);
  }
}

// An odd number of 16-byte pieces.
int pitch_of(int channels) { return channels / 8 | 1; }

int window_extent(int tile, const DepthwiseShape& s) { return (tile - 1) * s.stride + s.kernel; }

int picture_pixels(const DepthwiseShape& s, const ExpandTile& tile) {
  return std::min(window_extent(tile.tile_h, s), s.h) *
         std::min(window_extent(tile.tile_w, s), s.w);
}

using ExpandKernel = void (*)(Expand);

template <int K, int S>
ExpandKernel kernel_of(const ExpandTile& tile) {
  const auto is = [&](int rows, int columns) {
    return tile.rows == rows && tile.columns == columns;
  };
  if (is(1, 1)) return expand_kernel<K, S, 1, 1>;
  if (is(1, 2)) return expand_kernel<K, S, 1, 2>;
  if (is(1, 4)) return expand_kernel<K, S, 1, 4>;
  if (is(1, 7)) return expand_kernel<K, S, 1, 7>;
  if constexpr (K == 3 && S == 1) {  // more has no room in the registers
    if (is(2, 4)) return expand_kernel<K, S, 2, 4>;
  }
  return nullptr;
}

ExpandKernel kernel_of(const DepthwiseShape& s, const ExpandTile& tile) {
  if (s.kernel == 3 && s.stride == 1) return kernel_of<3, 1>(tile);
  if (s.kernel == 3 && s.stride == 2) return kernel_of<3, 2>(tile);
  if (s.kernel == 5 && s.stride == 1) return kernel_of<5, 1>(tile);
  if (s.kernel == 5 && s.stride == 2) return kernel_of<5, 2>(tile);
  return nullptr;
}

}  // namespace

std::size_t expand_shared_bytes(const DepthwiseShape& s, int channels, const ExpandTile& tile) {
  const int window = window_extent(tile.tile_h, s) * window_extent(tile.tile_w, s);
  const int pieces = window * kTileVectors +
                     (picture_pixels(s, tile) + tile.groups * kTileChannels) * pitch_of(channels);
  return static_cast<std::size_t>(pieces) * 16 +
         sizeof(float) *
             static_cast<std::size_t>(tile.groups * kTileChannels * s.kernel * s.kernel);
}

cudaError_t launch_expand(const void* x, const void* weight, const float* bias, Activation act,
                          const DepthwiseWork& work, int channels, const ExpandTile& tile,
                          cudaStream_t stream) {
  const DepthwiseShape& s = work.shape;
  const Finish between = finish_of(act);
  const ExpandKernel kernel = kernel_of(s, tile);
  const std::size_t bytes = expand_shared_bytes(s, channels, tile);
  if (kernel == nullptr || !between.bounds) return cudaErrorInvalidValue;
  const Expand e{static_cast<const __half*>(x),
                 static_cast<const __half*>(weight),
                 bias,
                 between_of(between, work.input_max),
                 channels,
                 pitch_of(channels),
                 tile.tile_h,
                 tile.tile_w,
                 tile.groups,
                 picture_pixels(s, tile),
                 depthwise_of(work, kTileChannels)};
  const cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(kExpandShared));
  if (code != cudaSuccess) return code;
  const dim3 grid(static_cast<unsigned>(tiles_of(s, tile.tile_h, tile.tile_w)),
                  static_cast<unsigned>(divided(divided(s.c, kTileChannels), tile.groups)));
  return launch_grid(kernel, grid, tile.threads, bytes, stream, e);
}

}  // namespace proa::engine::cuda
