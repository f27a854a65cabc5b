// Picture -> 7x7 convolution by 2 -> bias, relu -> 3x3 pool by 2, without a trip to memory between.
//
// A block keeps a piece of the picture in shared memory as [row][pixel][4 halves]. The convolution
// is a matrix product over k = (kernel row, 8 taps, 4 channels), the eighth tap being zero: for
// output pixel q the 8 taps of one kernel row are 64 contiguous bytes that begin 16 bytes after
// those of pixel q-1, so `ldmatrix` reads the matrix straight from the picture and nothing is
// unrolled in memory. The weights of a warp's 16 channels stay in its registers for all tiles of
// the block. The results go to shared memory, 16-byte pieces permuted so that neither the writing
// by pixels nor the reading by channels meets a bank twice, and are pooled from there.
#include "engine/cuda/kernels/matrix.cuh"
#include "engine/cuda/kernels/picture.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kChannels = 64;
constexpr int kKernel = 7;
constexpr int kSteps = 2 * kKernel;  // of 16 along k: two for each kernel row
constexpr int kChannelGroups = 4;    // warps side by side, 16 channels each
constexpr int kPixelBytes = 4 * 2;   // packed picture
constexpr int kResultBytes = kChannels * 2;

template <int kRows, int kTiles>
struct TileOf {
  static constexpr int kConvRows = 2 * kRows + 1;
  static constexpr int kConvColumns = 16 * kTiles;
  static constexpr int kPictureRows = 2 * kConvRows + 5;
  static constexpr int kPictureColumns = 2 * kConvColumns + 8;
  static constexpr int kPitch = kPictureColumns * kPixelBytes;
  static constexpr int kPictureBytes = kPictureRows * kPitch;
  static constexpr int kSharedBytes = kPictureBytes + kConvRows * kConvColumns * kResultBytes;
  static constexpr int kThreads = kRows >= 4 ? 512 : 256;
};

struct Stem {
  Picture picture;
  const __half* weight;
  const float* bias;
  uint4* y;
  StemShape shape;
  int tile_rows, tile_columns;  // tiles of one picture
  int pooled_columns;           // of one tile
};

// Two neighbouring k of channel n, as the matrix instruction wants them: 0 for the eighth tap.
__device__ __forceinline__ unsigned weight_pair(const __half* weight, int n, int step, int k) {
  const int row = step / 2, tap = step % 2 * 4 + k / 4, c = k % 4;
  if (tap == kKernel) return 0;
  return *reinterpret_cast<const unsigned*>(&weight[((n * kKernel + row) * kKernel + tap) * 4 + c]);
}

// Where the 16-byte piece `piece` of a result pixel lies.
__device__ __forceinline__ int result_offset(int pixel, int piece) {
  return pixel * kResultBytes + (piece ^ (pixel & 7)) * 16;
}

// The four sums that a lane holds of one matrix product: two channels of two pixels, 8 apart.
__device__ __forceinline__ void store_results(unsigned char* results, const float (&sums)[4],
                                              const float (&bias)[2], bool relu, int pixel,
                                              int piece, int quarter) {
#pragma unroll
  for (int upper = 0; upper < 2; ++upper) {
    float x0 = sums[2 * upper] + bias[0], x1 = sums[2 * upper + 1] + bias[1];
    if (relu) x0 = fmaxf(x0, 0.0f), x1 = fmaxf(x1, 0.0f);
    *reinterpret_cast<__half2*>(results + result_offset(pixel + upper * 8, piece) + quarter * 4) =
        __floats2half2_rn(x0, x1);
  }
}

template <int kRows, int kTiles>
__global__ void __launch_bounds__(TileOf<kRows, kTiles>::kThreads,
                                  TileOf<kRows, kTiles>::kThreads == 512 ? 1 : 2)
    stem_kernel(Stem s, int tiles) {
  using Tile = TileOf<kRows, kTiles>;
  auto* shared = dynamic_shared<unsigned char>();
  unsigned char* picture = shared;
  unsigned char* results = shared + Tile::kPictureBytes;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int group = warp % kChannelGroups, first_tile = warp / kChannelGroups;
  constexpr int kTileStep = Tile::kThreads / 32 / kChannelGroups;

  // Constants: they may be read before the kernel in front has ended.
  unsigned b[kSteps][2][2];
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int n = group * 16 + half * 8 + lane / 4;
      b[step][half][0] = weight_pair(s.weight, n, step, lane % 4 * 2);
      b[step][half][1] = weight_pair(s.weight, n, step, lane % 4 * 2 + 8);
    }
  }
  float bias[2][2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    bias[half][0] = s.bias[group * 16 + half * 8 + lane % 4 * 2];
    bias[half][1] = s.bias[group * 16 + half * 8 + lane % 4 * 2 + 1];
  }
  const Normalisation normal = read_normalisation(s.picture);
  wait_for_inputs();

  const unsigned picture_address = static_cast<unsigned>(__cvta_generic_to_shared(picture));
  const int matrix_row = lane % 8 + (lane / 8 & 1) * 8;  // the output pixel whose address it gives
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const int column = tile % s.tile_columns, row = tile / s.tile_columns % s.tile_rows;
    const int n = tile / s.tile_columns / s.tile_rows;
    const int pooled_row = row * kRows, pooled_column = column * s.pooled_columns;
    const int conv_row = 2 * pooled_row - 1, conv_column = max(2 * pooled_column - 1, 0);

    const auto row_of = [](int i) { return i / Tile::kPictureColumns; };
    const Rectangle part{
        n,     2 * conv_row - 3, 2 * conv_column - 3, Tile::kPictureRows, Tile::kPictureColumns,
        row_of};
    load_any_picture(s.picture, normal, part, Tile::kThreads, picture);
    __syncthreads();

    unsigned tile_address = picture_address;
    tie_to_memory(tile_address);
    // Two tiles of 16 pixels at a time: four independent chains of products for each warp.
    constexpr int kAll = Tile::kConvRows * kTiles;
    for (int m = first_tile * 2; m < kAll; m += kTileStep * 2) {
      const int pair[2] = {m, m + 1 < kAll ? m + 1 : m};
      float sums[2][2][4] = {};
      unsigned first[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        first[k] = tile_address + 2 * (pair[k] / kTiles) * Tile::kPitch +
                   (pair[k] % kTiles * 16 + matrix_row) * 2 * kPixelBytes + lane / 16 * 16;
      }
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          unsigned a[4];
          load_matrix(a, first[k] + step / 2 * Tile::kPitch + step % 2 * 32);
          multiply(sums[k][0], a, b[step][0][0], b[step][0][1]);
          multiply(sums[k][1], a, b[step][1][0], b[step][1][1]);
        }
      }
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int pixel = pair[k] / kTiles * Tile::kConvColumns + pair[k] % kTiles * 16 + lane / 4;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          store_results(results, sums[k][half], bias[half], s.shape.relu, pixel, group * 2 + half,
                        lane % 4);
        }
      }
    }
    __syncthreads();

    const int width = min(s.pooled_columns, s.shape.pooled_w - pooled_column);
    for (int i = static_cast<int>(threadIdx.x); i < kRows * width * 8; i += Tile::kThreads) {
      const int piece = i % 8, q = pooled_column + i / 8 % width, p = pooled_row + i / 8 / width;
      if (p >= s.shape.pooled_h) break;
      const unsigned lowest = 0xfc00fc00u;  // minus infinity, twice
      uint4 best = make_uint4(lowest, lowest, lowest, lowest);
#pragma unroll
      for (int r = 0; r < 3; ++r) {
        const int h = 2 * p - 1 + r;
        if (h < 0 || h >= s.shape.conv_h) continue;
#pragma unroll
        for (int t = 0; t < 3; ++t) {
          const int w = 2 * q - 1 + t;
          if (w < 0 || w >= s.shape.conv_w) continue;
          const int pixel = (h - conv_row) * Tile::kConvColumns + w - conv_column;
          best =
              max_of(best, *reinterpret_cast<const uint4*>(results + result_offset(pixel, piece)));
        }
      }
      s.y[((static_cast<std::int64_t>(n) * s.shape.pooled_h + p) * s.shape.pooled_w + q) * 8 +
          piece] = best;
    }
    // The next tile's picture may be written now: pooling reads only the results, and those are
    // written again behind the next barrier.
  }
}

template <int kRows, int kTiles>
cudaError_t launch_tiles(Stem s, int multiprocessors, cudaStream_t stream) {
  using Tile = TileOf<kRows, kTiles>;
  // The first tile begins at the picture's edge and so holds one pooled column more.
  const bool whole = s.shape.pooled_w <= 8 * kTiles;
  const int most = (Tile::kConvColumns - 1) / 2;
  s.tile_columns = whole ? 1 : (s.shape.pooled_w + most - 1) / most;
  s.pooled_columns = (s.shape.pooled_w + s.tile_columns - 1) / s.tile_columns;
  s.tile_rows = (s.shape.pooled_h + kRows - 1) / kRows;
  const int tiles = s.shape.n * s.tile_rows * s.tile_columns;
  const cudaError_t code = cudaFuncSetAttribute(
      stem_kernel<kRows, kTiles>, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes);
  if (code != cudaSuccess) return code;
  const int resident = multiprocessors * (Tile::kThreads == 512 ? 1 : 2);
  const dim3 grid(static_cast<unsigned>(tiles < resident ? tiles : resident));
  return launch_grid(stem_kernel<kRows, kTiles>, grid, Tile::kThreads, Tile::kSharedBytes, stream,
                     s, tiles);
}

}  // namespace

cudaError_t launch_stem(Source x, const void* weight, const float* bias, const float* scale,
                        const float* shift, void* y, const StemShape& shape, StemTile tile,
                        int multiprocessors, cudaStream_t stream) {
  const Picture picture{x, scale, shift, shape.h, shape.w, shape.c, shape.planes};
  const Stem s{
      picture, static_cast<const __half*>(weight), bias, static_cast<uint4*>(y), shape, 0, 0, 0};
  switch (tile) {
    case StemTile::k1x4:
      return launch_tiles<1, 4>(s, multiprocessors, stream);
    case StemTile::k1x7:
      return launch_tiles<1, 7>(s, multiprocessors, stream);
    case StemTile::k2x4:
      return launch_tiles<2, 4>(s, multiprocessors, stream);
    case StemTile::k2x7:
      return launch_tiles<2, 7>(s, multiprocessors, stream);
    case StemTile::k4x7:
      return launch_tiles<4, 7>(s, multiprocessors, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace proa::engine::cuda
