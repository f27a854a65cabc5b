// Picture -> 7x7 convolution by 2 -> bias, relu -> 3x3 pool by 2, without a trip to memory between.
//
// A block keeps a piece of the picture in shared memory as [row][pixel][4 halves]. The convolution
// is a matrix product over k = (kernel row, 8 taps, 4 channels), the first tap being zero: for
// output pixel q the 8 taps of one kernel row are 64 contiguous bytes that begin 16 bytes after
// those of pixel q-1, so `ldmatrix` reads the matrix straight from the picture and nothing is
// unrolled in memory.
//
// A warp makes a strip of 16 pixels, 7 after pooling, and walks down the rows of the picture with
// the weights of its channels in registers. It reads each row of the picture once: an even row is
// part of four rows of the convolution and an odd one of three, whose sums are under way at once.
// Finished rows are rounded and pooled in registers: the maximum of three rows as they come, that
// of three neighbouring pixels by shuffles.
#include <cmath>
#include <type_traits>

#include "engine/cuda/kernels/matrix.cuh"
#include "engine/cuda/kernels/picture.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kChannels = 64;
constexpr int kKernel = 7;
constexpr int kSteps = 2 * kKernel;  // of 16 along k: two for each kernel row
constexpr int kUnderWay = 4;         // rows of the convolution that read one row of the picture
constexpr int kPixelBytes = 4 * 2;   // packed picture
constexpr int kPooled = 7;           // pooled pixels of a strip

// What a block keeps in shared memory behind the picture: registers are scarce.
struct Constants {
  Normalisation normal;
  float bias[kChannels];
};

// Pooled rows and columns of a block, whose strips are spread over `kWalkers` warps for each group
// of channels; warps make 8 channels with each of `kProducts` products. `kBlocks` are to be
// resident.
template <int kRows_, int kColumns_, int kProducts_, int kWalkers_, int kBlocks_>
struct TileOf {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kProducts = kProducts_;
  static constexpr int kStrips = kColumns / kPooled, kWalkers = kWalkers_, kBlocks = kBlocks_;
  static constexpr int kConvRows = 2 * kRows + 1, kConvColumns = 2 * kColumns + 2;
  static constexpr int kPictureRows = 2 * kConvRows + 5;
  static constexpr int kPictureColumns = 2 * kConvColumns + 6;
  static constexpr int kPitch = kPictureColumns * kPixelBytes;
  static constexpr int kPictureBytes = kPictureRows * kPitch;
  static constexpr int kSharedBytes = kPictureBytes + static_cast<int>(sizeof(Constants));
  static constexpr int kGroups = kChannels / (8 * kProducts);
  static constexpr int kThreads = 32 * kGroups * kWalkers;
  static_assert(kThreads > kChannels, "one for each bias, one for the normalisation");

  __device__ __forceinline__ static int first_channel(int thread) {
    return thread / 32 % kGroups * 8 * kProducts;
  }
};

struct Stem {
  Picture picture;
  const __half* weight;
  const float* bias;
  void* y;
  StemShape shape;
  unsigned tile_rows, tile_columns, tiles;  // the first two of one picture
};

template <class Tile>
__device__ __forceinline__ Constants* constants_of() {
  return reinterpret_cast<Constants*>(dynamic_shared<unsigned char>() + Tile::kPictureBytes);
}

// What a lane keeps of the weights, as the matrix instruction wants them.
template <int kProducts>
struct Filters {
  unsigned weight[kSteps][kProducts][2];
};

// The channels of one pixel that a lane makes.
template <int kProducts>
using PackedOf = std::conditional_t<kProducts == 2, uint2, uint4>;

// Two neighbouring k of a channel: 0 for the first tap.
__device__ __forceinline__ unsigned weight_pair(const __half* weight, int channel, int step,
                                                int k) {
  const int row = step / 2, tap = step % 2 * 4 + k / 4 - 1, c = k % 4;
  if (tap < 0) return 0;
  return *reinterpret_cast<const unsigned*>(
      &weight[((channel * kKernel + row) * kKernel + tap) * 4 + c]);
}

// Of 8 kProducts channels from `first` on, in an order that gives a lane neighbouring results:
// column g of product j is channel g / 2 x 2 kProducts + 2 j + g % 2.
template <int kProducts>
__device__ __forceinline__ void read_filters(const Stem& s, int first, int lane,
                                             Filters<kProducts>& filters) {
#pragma unroll
  for (int j = 0; j < kProducts; ++j) {
    const int channel = first + lane / 8 * 2 * kProducts + 2 * j + lane / 4 % 2;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      filters.weight[step][j][0] = weight_pair(s.weight, channel, step, lane % 4 * 2);
      filters.weight[step][j][1] = weight_pair(s.weight, channel, step, lane % 4 * 2 + 8);
    }
  }
}

// Pooled pixels of picture n from (row, column) on.
struct Place {
  int n, row, column;
};
template <class Tile>
__device__ __forceinline__ Place place_of(const Stem& s, unsigned tile) {
  const unsigned row = tile / s.tile_columns, n = row / s.tile_rows;
  return {static_cast<int>(n), static_cast<int>(row - n * s.tile_rows) * Tile::kRows,
          static_cast<int>(tile - row * s.tile_columns) * Tile::kColumns};
}

// The part of the picture that a tile reads.
template <class Tile>
__device__ __forceinline__ auto part_of(const Place& place) {
  const auto row_of = [](int i) { return i / Tile::kPictureColumns; };
  return Rectangle{
      place.n, 4 * place.row - 5, 4 * place.column - 6, Tile::kPictureRows, Tile::kPictureColumns,
      row_of};
}

// Where a lane stands in a strip. Lanes of row r hold pixels r and r + 8 of each row of the
// convolution and make one pooled pixel: even rows make pixels 0 to 3, odd ones 4 to 7, of which 7
// is none.
struct Lane {
  int pooled;
  int third;  // the lane that gives it the last of the pixels that it pools
  bool odd;
  bool inside[2];  // the convolution has its pixels
  bool writes;     // the result has its pooled pixel

  __device__ __forceinline__ Lane(const StemShape& shape, int column, int lane) {
    const int row = lane / 4, first = 2 * column - 1 + row;
    odd = row % 2 != 0;
    pooled = column + row / 2 + (odd ? 4 : 0);
    third = row == 6 ? lane % 4 + 4 : lane + 8;  // row 1 was given what is pixel 8
    inside[0] = first >= 0 && first < shape.conv_w;
    inside[1] = first + 8 < shape.conv_w;
    writes = row != 7 && pooled < shape.pooled_w;
  }
};

// The maximum over pixels 2p, 2p + 1 and 2p + 2 of the strip, for the lane's pooled pixel p: of its
// own two pixels it keeps the one that it needs and gives the other one to its neighbour.
__device__ __forceinline__ __half2 pool_neighbours(const Lane& own, __half2 low, __half2 high) {
  const __half2 given = __shfl_xor_sync(~0u, own.odd ? low : high, 4);
  const __half2 kept = own.odd ? high : low;
  return __hmax2(__hmax2(kept, given), __shfl_sync(~0u, own.odd ? given : low, own.third));
}

// Pools the maxima of three rows, [product][pixel], to the lane's pixel of 2 kProducts channels.
// Nothing comes out below `lowest`, which also stands for pixels that are not there.
template <int kProducts>
__device__ __forceinline__ void write_row(const Lane& own, const __half2 (&best)[kProducts][2],
                                          __half2 lowest, PackedOf<kProducts>* to) {
  unsigned pooled[kProducts];
#pragma unroll
  for (int j = 0; j < kProducts; ++j) {
    const __half2 most = pool_neighbours(own, own.inside[0] ? best[j][0] : lowest,
                                         own.inside[1] ? best[j][1] : lowest);
    const __half2 pair = __hmax2(most, lowest);
    pooled[j] = *reinterpret_cast<const unsigned*>(&pair);
  }
  if (!own.writes) return;
  if constexpr (kProducts == 2) {
    *to = make_uint2(pooled[0], pooled[1]);
  } else {
    *to = make_uint4(pooled[0], pooled[1], pooled[2], pooled[3]);
  }
}

// One row of the picture, 16 pixels of a strip, as the matrix instruction wants it.
struct PictureRow {
  unsigned half[2][4];
  __device__ __forceinline__ explicit PictureRow(unsigned address) {
    load_matrix(half[0], address);
    load_matrix(half[1], address + 32);
  }
};

// Adds its products with a row of the filters.
template <int kProducts>
__device__ __forceinline__ void add_row(const PictureRow& row, const Filters<kProducts>& filters,
                                        int kernel_row, float (&sums)[kProducts][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int j = 0; j < kProducts; ++j) {
      const unsigned(&b)[2] = filters.weight[2 * kernel_row + half][j];
      multiply(sums[j], row.half[half], b[0], b[1]);
    }
  }
}

// A finished row of sums as halves, [product][pixel]. The bias is volatile, so that it is read
// again for each row and not kept.
template <int kProducts>
__device__ __forceinline__ void round_row(const float (&sums)[kProducts][4],
                                          const volatile float* bias,
                                          __half2 (&rounded)[kProducts][2]) {
#pragma unroll
  for (int j = 0; j < kProducts; ++j) {
    const float bias0 = bias[2 * j], bias1 = bias[2 * j + 1];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      rounded[j][k] = __floats2half2_rn(sums[j][2 * k] + bias0, sums[j][2 * k + 1] + bias1);
    }
  }
}

template <int kProducts>
__device__ __forceinline__ void raise(__half2 (&best)[kProducts][2],
                                      const __half2 (&rounded)[kProducts][2]) {
#pragma unroll
  for (int i = 0; i < kProducts * 2; ++i) {
    best[i / 2][i % 2] = __hmax2(best[i / 2][i % 2], rounded[i / 2][i % 2]);
  }
}
template <int kProducts>
__device__ __forceinline__ void fill(__half2 (&best)[kProducts][2], __half2 pair) {
#pragma unroll
  for (int i = 0; i < kProducts * 2; ++i) best[i / 2][i % 2] = pair;
}

// The address from which the matrix of a lane is read: its pixel of the strip at `column`.
__device__ __forceinline__ unsigned address_of(int column, int lane) {
  const int byte = (2 * column + lane % 16) * 2 * kPixelBytes + lane / 16 * 16;
  auto address =
      static_cast<unsigned>(__cvta_generic_to_shared(dynamic_shared<unsigned char>() + byte));
  tie_to_memory(address);
  return address;
}

// A warp makes its channels of the strip whose first pooled pixel is `place`, `column` columns from
// the tile's. Unrolled as a whole: which sums a row takes part in is known then.
template <class Tile>
__device__ __forceinline__ void walk_strip(const Stem& s, const Filters<Tile::kProducts>& filters,
                                           const Place& place, int column) {
  constexpr int kProducts = Tile::kProducts, kPictureRowPairs = Tile::kConvRows + kUnderWay - 1;
  constexpr int kPieces = kChannels / (2 * kProducts);  // of a pixel
  const StemShape& shape = s.shape;
  const int thread = thread_again(), lane = thread % 32;
  const int channel = Tile::first_channel(thread) + lane % 4 * 2 * kProducts;
  const Lane own(shape, place.column, lane);
  const unsigned address = address_of(column, lane);
  const volatile float* bias = constants_of<Tile>()->bias + channel;
  const __half2 lowest = __float2half2_rn(shape.relu ? 0.0f : -INFINITY);
  // In pieces and narrow, to save registers: enough for the 2^27 pixels that launch_tiles() allows.
  const int pixel = (place.n * shape.pooled_h + place.row) * shape.pooled_w + own.pooled;
  auto to =
      static_cast<unsigned>(pixel) * kPieces + static_cast<unsigned>(channel / (2 * kProducts));

  float sums[kUnderWay][kProducts][4];
  __half2 best[kProducts][2], rounded[kProducts][2];
  fill<kProducts>(best, lowest);
#pragma unroll
  for (int step = 0; step < kPictureRowPairs; ++step) {
    // To the sums that began `back` rows before.
    const auto add = [&](const PictureRow& read, int odd, int back) {
      const int row = step - back;
      if (row < 0 || row >= Tile::kConvRows) return;
      add_row<kProducts>(read, filters, 2 * back + odd, sums[row % kUnderWay]);
    };
    // What finishes a row first: then its sums make place for those that begin.
    const PictureRow even(address + static_cast<unsigned>(2 * step * Tile::kPitch));
    add(even, 0, kUnderWay - 1);
    const int row = step - kUnderWay + 1;
    if (row >= 0) {
      const int conv_row = 2 * place.row - 1 + row;
      round_row<kProducts>(sums[row % kUnderWay], bias, rounded);
      if (conv_row >= 0 && conv_row < shape.conv_h) raise<kProducts>(best, rounded);
    }
    if (row > 0 && row % 2 == 0) {
      write_row<kProducts>(own, best, lowest, static_cast<PackedOf<kProducts>*>(s.y) + to);
      if (step == kPictureRowPairs - 1 || place.row + row / 2 >= shape.pooled_h) return;
      to += static_cast<unsigned>(shape.pooled_w * kPieces);
      fill<kProducts>(best, lowest);
      raise<kProducts>(best, rounded);
    }
#pragma unroll
    for (int i = 0; i < kProducts * 4; ++i) sums[step % kUnderWay][i / 4][i % 4] = 0.0f;
#pragma unroll
    for (int back = kUnderWay - 2; back >= 0; --back) add(even, 0, back);
    const PictureRow odd(address + static_cast<unsigned>((2 * step + 1) * Tile::kPitch));
#pragma unroll
    for (int back = kUnderWay - 2; back >= 0; --back) add(odd, 1, back);
  }
}

// A block makes tiles gridDim.x apart, its weights stay.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks) stem_kernel(Stem s) {
  auto* picture = dynamic_shared<unsigned char>();
  const int thread = static_cast<int>(threadIdx.x);

  // Constants: they may be read before the kernel in front has ended.
  Filters<Tile::kProducts> filters;
  read_filters(s, Tile::first_channel(thread), thread % 32, filters);
  Constants* constants = constants_of<Tile>();
  if (thread < kChannels) constants->bias[thread] = s.bias[thread];
  if (thread == kChannels) constants->normal = read_normalisation(s.picture);
  __syncthreads();
  wait_for_inputs();

  for (unsigned tile = blockIdx.x; tile < s.tiles; tile += gridDim.x) {
    const auto part = part_of<Tile>(place_of<Tile>(s, tile));
    const Normalisation normal = constants->normal;
    load_any_picture<2>(s.picture, normal, part, Tile::kThreads, picture);
    __syncthreads();
    const unsigned next = tile + gridDim.x;
    if (next < s.tiles) {
      prefetch_picture(s.picture, part_of<Tile>(place_of<Tile>(s, next)), Tile::kThreads);
    }
    const unsigned first = static_cast<unsigned>(thread_again()) / 32 / Tile::kGroups;
#pragma unroll 1
    for (unsigned strip = first; strip < Tile::kStrips; strip += Tile::kWalkers) {
      unsigned same = tile;
      tie_to_memory(same);  // or its place would be kept in registers
      Place place = place_of<Tile>(s, same);
      place.column += static_cast<int>(strip) * kPooled;
      if (place.column >= s.shape.pooled_w) break;
      walk_strip<Tile>(s, filters, place, static_cast<int>(strip) * kPooled);
    }
    __syncthreads();
  }
}

template <class Tile>
cudaError_t launch_tiles(Stem s, int multiprocessors, cudaStream_t stream) {
  s.tile_rows = static_cast<unsigned>(divided(s.shape.pooled_h, Tile::kRows));
  s.tile_columns = static_cast<unsigned>(divided(s.shape.pooled_w, Tile::kColumns));
  s.tiles = static_cast<unsigned>(s.shape.n) * s.tile_rows * s.tile_columns;
  const std::int64_t pixels = static_cast<std::int64_t>(s.shape.n) * s.shape.pooled_h;
  if (pixels * s.shape.pooled_w > std::int64_t{1} << 27) return cudaErrorInvalidValue;
  const cudaError_t code = cudaFuncSetAttribute(
      stem_kernel<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::kSharedBytes);
  if (code != cudaSuccess) return code;
  const auto resident = static_cast<unsigned>(multiprocessors * Tile::kBlocks);
  const dim3 grid(s.tiles < resident ? s.tiles : resident);
  return launch_grid(stem_kernel<Tile>, grid, Tile::kThreads, Tile::kSharedBytes, stream, s);
}

}  // namespace

cudaError_t launch_stem(Source x, const void* weight, const float* bias, const float* scale,
                        const float* shift, void* y, const StemShape& shape, StemTile tile,
                        int multiprocessors, cudaStream_t stream) {
  const Picture picture{x, scale, shift, shape.h, shape.w, shape.c, shape.planes};
  const Stem s{picture, static_cast<const __half*>(weight), bias, y, shape, 0, 0, 0};
  switch (tile) {
    case StemTile::k1x14:
      return launch_tiles<TileOf<1, 14, 2, 2, 2>>(s, multiprocessors, stream);
    case StemTile::k4x14:
      return launch_tiles<TileOf<4, 14, 2, 2, 2>>(s, multiprocessors, stream);
    case StemTile::k4x28:
      return launch_tiles<TileOf<4, 28, 4, 2, 2>>(s, multiprocessors, stream);
    case StemTile::k7x28:
      return launch_tiles<TileOf<7, 28, 2, 4, 1>>(s, multiprocessors, stream);
    case StemTile::k7x56:
      return launch_tiles<TileOf<7, 56, 2, 2, 2>>(s, multiprocessors, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace proa::engine::cuda
