// Picture -> 3x3 convolution by 2 -> depthwise convolution, without a trip to memory between.
//
// A block owns a tile of the result and brings the piece of the picture that it needs into shared
// memory as [row][pixel][4 halves]. The convolution is a matrix product over k = (kernel row,
// 4 taps, 4 channels), the fourth tap being zero: for output pixel q the taps of one kernel row are
// 32 contiguous bytes that begin 16 bytes after those of pixel q-1, so `ldmatrix` reads the matrix
// straight from the picture. The weights stay in registers.
#include <algorithm>

#include "engine/cuda/kernels/depthwise_tile.cuh"
#include "engine/cuda/kernels/picture.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kMostThreads = 256;
constexpr int kTaps = 3;  // each way
constexpr int kPixelBytes = 4 * 2;

struct PictureDepthwise {
  Picture picture;
  const __half* weight;  // [channels, 3, 3, 4]
  const float* bias;     // null: none
  Between between;
  int pad_h, pad_w;  // of the first convolution
  int tile_h, tile_w;
  int tiles;  // of the batch
  Depthwise depthwise;
};

// Extents of the picture's piece; an even number of pixels, so that rows begin at 16 bytes.
__host__ __device__ __forceinline__ int piece_rows(int window) { return 2 * window + 1; }
__host__ __device__ __forceinline__ int piece_columns(int window) { return 2 * window + 2; }

// The channel of a group of 32 that column `g` of product `j` computes: a lane then has 8
// neighbouring ones in four products.
__device__ __forceinline__ int channel_of(int j, int g) { return g / 2 * 8 + j * 2 + g % 2; }

// Two neighbouring k of a channel, as the matrix instruction wants them.
__device__ __forceinline__ unsigned weight_pair(const PictureDepthwise& p, int channel, int row,
                                                int k) {
  const int tap = k / 4, c = k % 4;
  if (tap == kTaps || channel >= p.depthwise.shape.c) return 0;
  return *reinterpret_cast<const unsigned*>(
      &p.weight[((channel * kTaps + row) * kTaps + tap) * 4 + c]);
}

// The weights in shared memory: two registers of each lane for each kernel row and product.
constexpr int kFragments = kTaps * 4 * 32;
__device__ __forceinline__ void read_weights(const PictureDepthwise& p, int first,
                                             uint2* fragments) {
  for (int i = static_cast<int>(threadIdx.x); i < kFragments; i += static_cast<int>(blockDim.x)) {
    const int lane = i % 32, j = i / 32 % 4, row = i / 128;
    const int channel = first + channel_of(j, lane / 4);
    fragments[i] = make_uint2(weight_pair(p, channel, row, lane % 4 * 2),
                              weight_pair(p, channel, row, lane % 4 * 2 + 8));
  }
}

// 16 pixels of the window from `first` on, 32 channels.
__device__ __forceinline__ void convolve_pixels(const PictureDepthwise& p, const Window& w,
                                                int first, unsigned piece, int pitch,
                                                const uint2* fragments, const float (&bias)[8],
                                                const Divider& row_of, uint4* tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int last = w.inside() - 1;
  const int own = min(first + lane % 16, last), own_row = row_of.divide(own);
  const unsigned at =
      piece + static_cast<unsigned>(2 * own_row * pitch +
                                    (own - own_row * w.columns) * 2 * kPixelBytes + lane / 16 * 16);
  float sums[4][4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    sums[j][0] = sums[j][2] = bias[2 * j];
    sums[j][1] = sums[j][3] = bias[2 * j + 1];
  }
#pragma unroll
  for (int row = 0; row < kTaps; ++row) {
    unsigned a[4];
    load_matrix(a, at + static_cast<unsigned>(row * pitch));
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint2 b = fragments[(row * 4 + j) * 32 + lane];
      multiply(sums[j], a, b.x, b.y);
    }
  }
  store_products(p.between, w, first, sums, row_of, tile);
}

__device__ __forceinline__ void load_piece(const PictureDepthwise& p, const Window& w,
                                           unsigned char* piece) {
  const Normalisation normal = read_normalisation(p.picture);
  const Divider columns(piece_columns(w.width));
  const auto row_of = [&](int i) { return columns.divide(i); };
  const Rectangle part{w.n,
                       2 * w.first_row - p.pad_h,
                       2 * w.first_column - p.pad_w,
                       piece_rows(w.height),
                       columns.by,
                       row_of};
  load_any_picture(p.picture, normal, part, static_cast<int>(blockDim.x), piece);
}

// A block makes tiles gridDim.x apart, its weights stay.
template <int K, int S, int TH, int TW>
__global__ void __launch_bounds__(kMostThreads, 2) picture_depthwise_kernel(PictureDepthwise p) {
  auto* shared = dynamic_shared<unsigned char>();
  const DepthwiseShape& s = p.depthwise.shape;
  int at = static_cast<int>(blockIdx.x);
  Window w = window_of<K, S>(s, p.tile_h, p.tile_w, at);
  const int pitch = piece_columns(w.width) * kPixelBytes;
  auto* tile = reinterpret_cast<uint4*>(shared);
  auto* filters = reinterpret_cast<float*>(tile + w.height * w.width * kTileVectors);
  auto* fragments = reinterpret_cast<uint2*>(filters + K * K * kTileChannels);
  auto* piece = reinterpret_cast<unsigned char*>(fragments + kFragments);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int channel = static_cast<int>(blockIdx.y) * kTileChannels;

  allow_next();
  read_weights(p, channel, fragments);
  load_weights<K>(p.depthwise, channel, kTileChannels, filters);
  wait_for_previous();
  load_piece(p, w, piece);
  auto piece_at = static_cast<unsigned>(__cvta_generic_to_shared(piece));
  while (true) {
    __syncthreads();
    tie_to_memory(piece_at);
    clear_border(w, tile);
    const Divider row_of(max(w.columns, 1));
    float bias[8] = {};
    const int own = channel + lane % 4 * 8;
    if (p.bias != nullptr && own < s.c) load_floats<8>(p.bias + own, bias);
    for (int i = warp * 16; i < w.inside(); i += static_cast<int>(blockDim.x) / 2) {
      convolve_pixels(p, w, i, piece_at, pitch, fragments, bias, row_of, tile);
    }
    __syncthreads();
    convolve_tile<K, S, TH, TW>(p.depthwise, w, p.tile_h, p.tile_w, channel, filters, tile);
    at += static_cast<int>(gridDim.x);
    if (at >= p.tiles) break;
    w = window_of<K, S>(s, p.tile_h, p.tile_w, at);
    load_piece(p, w, piece);  // threads that had nothing to convolve begin with it
  }
}

// How many blocks along x share the tiles, so that all are on the device at once where `sets` of
// them stand along y: of 128 registers a thread and `bytes` of shared memory.
int resident_blocks(int tiles, int sets, int threads, std::size_t bytes, int multiprocessors) {
  constexpr int kRegisters = 65536, kThreadRegisters = 128;
  constexpr std::size_t kShared = 227 << 10, kOwn = 1 << 10;  // the system keeps some of each
  const int by_registers = kRegisters / kThreadRegisters / threads;
  const int by_memory = static_cast<int>(kShared / (bytes + kOwn));
  const int blocks = multiprocessors * (by_registers < by_memory ? by_registers : by_memory) / sets;
  return blocks < 1 ? 1 : blocks < tiles ? blocks : tiles;
}

using Kernel = void (*)(PictureDepthwise);

template <int K, int S>
Kernel kernel_of(const BlockTile& tile) {
  const auto is = [&](int rows, int columns) {
    return tile.rows == rows && tile.columns == columns;
  };
  if (is(1, 1)) return picture_depthwise_kernel<K, S, 1, 1>;
  if (is(1, 4)) return picture_depthwise_kernel<K, S, 1, 4>;
  if (is(1, 7)) return picture_depthwise_kernel<K, S, 1, 7>;
  return nullptr;
}

}  // namespace

std::size_t picture_depthwise_shared_bytes(const DepthwiseShape& s, const BlockTile& tile) {
  const int height = (tile.tile_h - 1) * s.stride + s.kernel;
  const int width = (tile.tile_w - 1) * s.stride + s.kernel;
  const int bytes = height * width * kTileChannels * 2 +
                    s.kernel * s.kernel * kTileChannels * static_cast<int>(sizeof(float)) +
                    kFragments * static_cast<int>(sizeof(uint2)) +
                    piece_rows(height) * piece_columns(width) * kPixelBytes;
  return static_cast<std::size_t>(bytes);
}

cudaError_t launch_picture_depthwise(const PictureConv& conv, const DepthwiseWork& work,
                                     const BlockTile& tile, int multiprocessors,
                                     cudaStream_t stream) {
  const DepthwiseShape& s = work.shape;
  const Finish between = finish_of(conv.act);
  Kernel kernel = nullptr;
  if (s.kernel == 3 && s.stride == 1) kernel = kernel_of<3, 1>(tile);
  if (s.kernel == 3 && s.stride == 2) kernel = kernel_of<3, 2>(tile);
  const std::size_t bytes = picture_depthwise_shared_bytes(s, tile);
  if (kernel == nullptr || !between.bounds || bytes > kPictureShared) return cudaErrorInvalidValue;
  const Picture picture{conv.x, conv.scale, conv.shift, conv.h, conv.w, conv.c, conv.planes};
  const PictureDepthwise p{picture,
                           static_cast<const __half*>(conv.weight),
                           conv.bias,
                           between_of(between, work.input_max),
                           conv.pad_h,
                           conv.pad_w,
                           tile.tile_h,
                           tile.tile_w,
                           tiles_of(s, tile.tile_h, tile.tile_w),
                           depthwise_of(work, kTileChannels)};
  const cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(kPictureShared));
  if (code != cudaSuccess) return code;
  const int sets = (s.c + kTileChannels - 1) / kTileChannels;
  const int blocks = resident_blocks(p.tiles, sets, tile.threads, bytes, multiprocessors);
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(sets));
  return launch_grid(kernel, grid, tile.threads, bytes, stream, p);
}

}  // namespace proa::engine::cuda
