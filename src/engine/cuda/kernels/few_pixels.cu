// A convolution of few pixels: there is little to do and many weights to bring, and every
// multiprocessor should bring its part of them. So the sums are split over the blocks of a cluster
// by input channels: each brings its channels of the picture and of the weights of a few output
// channels, all at once, multiplies, and sends each other block its part of the sums, who adds them
// up and finishes that part.
//
// In a block the warps share the tile's pixels; those that have none of their own share the steps
// of 16 channels instead.
#include <cuda_pipeline.h>

#include <bit>

#include "engine/cuda/kernels/matrix.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarpsLog2 = 3;
static_assert(1 << kWarpsLog2 == kThreads / 32);
static_assert(kFewPixelsOfTile == 32 << kWarpsLog2);
constexpr int kWarpPixels = 32;  // two rows of tensor-core tiles
constexpr int kPad = 8;          // floats between rows of sums: fewer meet in a bank

struct FewPixels {
  const __half* x;
  const __half* weight;
  const float* bias;       // null: none
  const __half* residual;  // null: none
  __half* y;
  Finish finish;
  ConvShape shape;
  int rows;                         // of the result, in a tile
  int tiles;                        // of a picture
  int window_rows, window_columns;  // of the picture, that a tile reads
  int channels, pieces_log2;        // of the input, of a block; their 16-byte pieces
  int warps_log2;                   // that share the pixels; the others split the sums
  int pairs_log2;                   // of outputs, that a block finishes
  Divider row_of_pixel, row_of_tap;
};

// Bytes of a pixel, or of one tap of a filter, in shared memory: an odd number of 16-byte pieces,
// so that the eight rows that `ldmatrix` reads together lie in different banks.
__host__ __device__ constexpr int pitch_of(int channels) { return channels * 2 + 16; }

__host__ __device__ constexpr int sums_pitch(int outputs) { return outputs + kPad; }

// The filters of the block's output channels: [output][tap][channels].
__device__ __forceinline__ void load_weights(const FewPixels& f, int first_output, int outputs,
                                             int first_channel, unsigned char* to) {
  const int pieces = 1 << f.pieces_log2, piece = static_cast<int>(threadIdx.x) & (pieces - 1);
  const int taps = f.shape.r * f.shape.s, pitch = pitch_of(f.channels);
  const __half* from = f.weight + static_cast<std::int64_t>(first_output) * taps * f.shape.c +
                       first_channel + piece * 8;
  for (int row = static_cast<int>(threadIdx.x) >> f.pieces_log2; row < outputs * taps;
       row += kThreads >> f.pieces_log2) {
    __pipeline_memcpy_async(to + row * pitch + piece * 16,
                            from + static_cast<std::int64_t>(row) * f.shape.c, 16);
  }
}

// The part of picture `n` that a tile reads, from row `top` on, zero outside of it.
__device__ __forceinline__ void load_window(const FewPixels& f, int n, int top, int first_channel,
                                            unsigned char* to) {
  const int pieces = 1 << f.pieces_log2, piece = static_cast<int>(threadIdx.x) & (pieces - 1);
  const int step = kThreads >> f.pieces_log2, pitch = pitch_of(f.channels);
  const ConvShape& s = f.shape;
  const __half* from =
      f.x + static_cast<std::int64_t>(n) * s.h * s.w * s.c + first_channel + piece * 8;
  int row = 0, column = static_cast<int>(threadIdx.x) >> f.pieces_log2;
  for (int pixel = column; pixel < f.window_rows * f.window_columns; pixel += step) {
    for (; column >= f.window_columns; column -= f.window_columns) ++row;
    const int h = top + row, w = column - s.pad_w;
    const bool inside = h >= 0 && h < s.h && w >= 0 && w < s.w;
    __pipeline_memcpy_async(to + pixel * pitch + piece * 16,
                            from + (inside ? static_cast<std::int64_t>(h * s.w + w) * s.c : 0), 16,
                            inside ? 0 : 16);
    column += step;
  }
}

// Which steps a warp has: begin and end.
struct Share {
  int begin, end;
};

template <int kTiles>  // of 8 output channels
struct WarpSums {
  float sums[2][kTiles][4] = {};

  // Adds the products of a warp's steps. `pixel`: where the lane's row of each 16 pixels begins in
  // the window; `filter`: where its row of the weights does.
  __device__ __forceinline__ void multiply_steps(const FewPixels& f, Share share,
                                                 const unsigned (&pixel)[2], unsigned filter) {
    const int steps_log2 = f.pieces_log2 - 1, steps = 1 << steps_log2;  // of one tap
    const int pitch = pitch_of(f.channels), taps = f.shape.r * f.shape.s;
    int tap = share.begin >> steps_log2, step = share.begin - tap * steps;
    for (int i = share.begin; i < share.end;) {
      const int r = f.row_of_tap.divide(tap), s = tap - r * f.shape.s;
      const unsigned offset = static_cast<unsigned>((r * f.window_columns + s) * pitch);
      const unsigned weights = filter + static_cast<unsigned>(tap * pitch);
      const int end = min(steps, step + share.end - i);
      i += end - step;
#pragma unroll 4
      for (; step < end; ++step) {
        unsigned a[2][4], b[kTiles / 2][4];
        const unsigned channel = static_cast<unsigned>(step * 32);
#pragma unroll
        for (int k = 0; k < 2; ++k) load_matrix(a[k], pixel[k] + offset + channel);
#pragma unroll
        for (int j = 0; j < kTiles / 2; ++j) {
          load_matrix(b[j], weights + channel + static_cast<unsigned>(16 * j * taps * pitch));
        }
#pragma unroll
        for (int k = 0; k < 2; ++k) {
#pragma unroll
          for (int j = 0; j < kTiles; ++j) {
            multiply(sums[k][j], a[k], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
          }
        }
      }
      step = 0;
      ++tap;
    }
  }

  // They are made before what follows: nothing else keeps the products before a barrier behind
  // them.
  __device__ __forceinline__ void settle() {
#pragma unroll
    for (int i = 0; i < 2 * kTiles * 4; ++i)
      tie_to_order(sums[i / (kTiles * 4)][i / 4 % kTiles][i % 4]);
  }

  // To [pixels][outputs] of the warp's share.
  __device__ __forceinline__ void store(float* to, int lane) const {
    constexpr int kPitch = sums_pitch(kTiles * 8);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        float* at = to + (k * 16 + lane / 4) * kPitch + j * 8 + lane % 4 * 2;
        *reinterpret_cast<float2*>(at) = {sums[k][j][0], sums[k][j][1]};
        *reinterpret_cast<float2*>(at + 8 * kPitch) = {sums[k][j][2], sums[k][j][3]};
      }
    }
  }
};

// The window's byte where the lane's row of the 16 pixels from `first` on begins. Pixels behind the
// tile's last are read as its first.
__device__ __forceinline__ unsigned pixel_offset(const FewPixels& f, int first, int pixels,
                                                 int lane) {
  const int pixel = first + lane % 8 + (lane / 8 & 1) * 8;
  const int row = pixel < pixels ? f.row_of_pixel.divide(pixel) : 0;
  const int column = pixel < pixels ? pixel - row * f.shape.q : 0;
  const int at = row * f.shape.stride_h * f.window_columns + column * f.shape.stride_w;
  return static_cast<unsigned>(at * pitch_of(f.channels) + lane / 16 * 16);
}

// What a block makes.
struct Place {
  int n, first_row, pixels;
  int first_output, first_channel;
};
__device__ __forceinline__ Place place_of(const FewPixels& f, int outputs) {
  const int n = static_cast<int>(blockIdx.z) / f.tiles;
  const int first_row = (static_cast<int>(blockIdx.z) - n * f.tiles) * f.rows;
  return {n, first_row, min(f.rows, f.shape.p - first_row) * f.shape.q,
          static_cast<int>(blockIdx.y) * outputs, static_cast<int>(blockIdx.x) * f.channels};
}

// What a warp does of it: pixels from `first_pixel` on, in one of `1 << parts_log2` parts.
struct WarpPlace {
  int first_pixel, part, parts_log2;
};
__device__ __forceinline__ WarpPlace warp_place_of(const FewPixels& f, int warp) {
  return {(warp & ((1 << f.warps_log2) - 1)) * kWarpPixels, warp >> f.warps_log2,
          kWarpsLog2 - f.warps_log2};
}

template <int kTiles>
__device__ __forceinline__ void multiply_part(const FewPixels& f, int pixels, const WarpPlace& own,
                                              int lane, const unsigned char* weights,
                                              const unsigned char* window, WarpSums<kTiles>& sums) {
  auto window_address = static_cast<unsigned>(__cvta_generic_to_shared(window));
  auto weight_address = static_cast<unsigned>(__cvta_generic_to_shared(weights));
  tie_to_memory(window_address);
  tie_to_memory(weight_address);
  const unsigned pixel[2] = {window_address + pixel_offset(f, own.first_pixel, pixels, lane),
                             window_address + pixel_offset(f, own.first_pixel + 16, pixels, lane)};
  // The four matrices of a load: channels 0 to 7 and 8 to 15 of 8 filters, then of 8 more.
  const int filter = lane % 8 + lane / 16 * 8, taps = f.shape.r * f.shape.s;
  const int offset = filter * taps * pitch_of(f.channels) + (lane / 8 & 1) * 16;
  const int steps = taps * (f.channels / 16);
  sums.multiply_steps(
      f, {steps * own.part >> own.parts_log2, steps * (own.part + 1) >> own.parts_log2}, pixel,
      weight_address + static_cast<unsigned>(offset));
  sums.settle();
}

// Adds up the parts of the block's warps and sends each pair of outputs to the block that finishes
// it.
template <int kOutputs>
__device__ __forceinline__ void send_sums(const FewPixels& f, const float* sums, int parts,
                                          float2* inbox) {
  constexpr int kPitch = sums_pitch(kOutputs), kRowPairs = kOutputs / 2;
  const int pixels = kWarpPixels << f.warps_log2;
  for (int pair = static_cast<int>(threadIdx.x); pair < pixels * kRowPairs; pair += kThreads) {
    const float* at = sums + pair / kRowPairs * kPitch + pair % kRowPairs * 2;
    float2 sum = *reinterpret_cast<const float2*>(at);
    for (int i = 1; i < parts; ++i) {
      const float2 more = *reinterpret_cast<const float2*>(at + i * pixels * kPitch);
      sum.x += more.x, sum.y += more.y;
    }
    const int owner = pair >> f.pairs_log2;
    const int slot = static_cast<int>(blockIdx.x) << f.pairs_log2;
    float2* to = &inbox[slot + pair - (owner << f.pairs_log2)];
    *(gridDim.x > 1 ? in_block(to, static_cast<unsigned>(owner)) : to) = sum;
  }
}

// Finishes the block's pairs of outputs. What it needs for that is read ahead; a thread's channels
// are the same for all its pairs.
template <int kOutputs>
class Finisher {
 public:
  __device__ __forceinline__ Finisher(const FewPixels& f, const Place& place)
      : f_(f), pixels_(place.pixels), first_pair_(static_cast<int>(blockIdx.x) << f.pairs_log2) {
    const ConvShape& s = f.shape;
    const int output = place.first_output + static_cast<int>(threadIdx.x) % kRowPairs * 2;
    const std::int64_t pixel = (static_cast<std::int64_t>(place.n) * s.p + place.first_row) * s.q;
    first_result_ = pixel * s.k + output;
    added_ = residual_at((first_pair_ + static_cast<int>(threadIdx.x)) / kRowPairs);
    if (f.bias != nullptr) bias_ = *reinterpret_cast<const float2*>(f.bias + output);
  }

  __device__ __forceinline__ void run(const float2* inbox) {
    const int count = 1 << f_.pairs_log2;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      const int row = (first_pair_ + i) / kRowPairs;
      if (row >= pixels_) break;
      float2 sum = inbox[i];
      for (int from = 1; from < static_cast<int>(gridDim.x); ++from) {
        sum.x += inbox[from * count + i].x, sum.y += inbox[from * count + i].y;
      }
      if (i >= kThreads) added_ = residual_at(row);
      const float2 added = __half22float2(added_);
      *reinterpret_cast<__half2*>(f_.y + result_of(row)) =
          __floats2half2_rn(finish(f_.finish, sum.x + bias_.x + added.x),
                            finish(f_.finish, sum.y + bias_.y + added.y));
    }
  }

 private:
  static constexpr int kRowPairs = kOutputs / 2;  // of a pixel

  __device__ __forceinline__ std::int64_t result_of(int row) const {
    return first_result_ + static_cast<std::int64_t>(row) * f_.shape.k;
  }
  __device__ __forceinline__ __half2 residual_at(int row) const {
    if (f_.residual == nullptr || row >= pixels_) return {};
    return *reinterpret_cast<const __half2*>(f_.residual + result_of(row));
  }

  const FewPixels& f_;
  int pixels_, first_pair_;
  std::int64_t first_result_;
  __half2 added_;
  float2 bias_ = {};
};

// In shared memory: what other blocks send, then weights and window, in whose place the sums come.
template <int kTiles>
__global__ void __launch_bounds__(kThreads, 2) few_pixels_kernel(FewPixels f) {
  constexpr int kOutputs = kTiles * 8;
  auto* inbox = dynamic_shared<float2>();
  const int tile_pixels = kWarpPixels << f.warps_log2;
  auto* weights = reinterpret_cast<unsigned char*>(inbox + tile_pixels * kOutputs / 2);
  unsigned char* window = weights + kOutputs * f.shape.r * f.shape.s * pitch_of(f.channels);
  auto* sums = reinterpret_cast<float*>(weights);
  const Place place = place_of(f, kOutputs);

  if (gridDim.x == 1) allow_next();  // launch_clusters() says why
  load_weights(f, place.first_output, kOutputs, place.first_channel, weights);
  if (gridDim.x > 1) announce_to_cluster();
  wait_for_previous();
  load_window(f, place.n, place.first_row * f.shape.stride_h - f.shape.pad_h, place.first_channel,
              window);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const WarpPlace own = warp_place_of(f, static_cast<int>(threadIdx.x) / 32);
  WarpSums<kTiles> own_sums;
  multiply_part(f, place.pixels, own, lane, weights, window, own_sums);
  Finisher<kOutputs> finisher(f, place);
  __syncthreads();
  const int first_row = own.part * tile_pixels + own.first_pixel;
  own_sums.store(sums + first_row * sums_pitch(kOutputs), lane);
  __syncthreads();
  if (gridDim.x > 1) wait_for_cluster();  // all have begun: they can be written to
  send_sums<kOutputs>(f, sums, 1 << own.parts_log2, inbox);
  if (gridDim.x > 1) {
    arrive_at_cluster();
    wait_for_cluster();
  }  // else each thread reads what it wrote
  finisher.run(inbox);
}

void (*kernel_of(int outputs))(FewPixels) {
  switch (outputs) {
    case 16:
      return few_pixels_kernel<2>;
    case 32:
      return few_pixels_kernel<4>;
    default:
      return nullptr;
  }
}

// A power of two, so that the rest of the warps can split the sums.
int warps_of_pixels(const ConvShape& s, const FewPixelsTile& tile) {
  int warps = 1;
  while (warps * kWarpPixels < tile.rows * s.q) warps *= 2;
  return warps;
}

// Of a tile's window: what `results` neighbouring results read.
int extent_of_window(int results, int stride, int taps) { return (results - 1) * stride + taps; }

int log2_of(int power) { return std::countr_zero(static_cast<unsigned>(power)); }
bool is_power(int number) { return std::has_single_bit(static_cast<unsigned>(number)); }

}  // namespace

std::size_t few_pixels_shared_bytes(const ConvShape& s, const FewPixelsTile& tile) {
  const int pixels = warps_of_pixels(s, tile) * kWarpPixels;
  const int parts = (1 << kWarpsLog2) / warps_of_pixels(s, tile);
  const int window =
      extent_of_window(tile.rows, s.stride_h, s.r) * extent_of_window(s.q, s.stride_w, s.s);
  const int inputs = (window + tile.outputs * s.r * s.s) * pitch_of(s.c / tile.splits);
  const int sums = parts * pixels * sums_pitch(tile.outputs) * static_cast<int>(sizeof(float));
  const int inbox = pixels * tile.outputs * static_cast<int>(sizeof(float));
  return static_cast<std::size_t>(inbox + (inputs > sums ? inputs : sums));
}

cudaError_t launch_few_pixels(const FewPixelsWork& work, const ConvShape& s,
                              const FewPixelsTile& tile, const DeviceLimits& limits,
                              cudaStream_t stream) {
  void (*const kernel)(FewPixels) = kernel_of(tile.outputs);
  const int channels = s.c / tile.splits, pieces = channels / 8, tiles = divided(s.p, tile.rows);
  const int warps = warps_of_pixels(s, tile);
  if (kernel == nullptr || s.groups != 1 || s.dilation_h != 1 || s.dilation_w != 1 ||
      s.k % tile.outputs != 0 || !is_power(tile.splits) || s.c % tile.splits != 0 ||
      channels < 16 || !is_power(channels) || pieces > kThreads ||
      tile.rows * s.q > kFewPixelsOfTile) {
    return cudaErrorInvalidValue;
  }
  const FewPixels f{static_cast<const __half*>(work.x),
                    static_cast<const __half*>(work.weight),
                    work.bias,
                    static_cast<const __half*>(work.residual),
                    static_cast<__half*>(work.y),
                    finish_of(work.act),
                    s,
                    tile.rows,
                    tiles,
                    extent_of_window(tile.rows, s.stride_h, s.r),
                    extent_of_window(s.q, s.stride_w, s.s),
                    channels,
                    log2_of(pieces),
                    log2_of(warps),
                    log2_of(warps * kWarpPixels * tile.outputs / 2 / tile.splits),
                    Divider(s.q),
                    Divider(s.s)};
  // Always the same: others may launch the kernel with another size at the same time.
  const cudaError_t code = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(limits.shared_bytes));
  if (code != cudaSuccess) return code;
  const dim3 grid(static_cast<unsigned>(tile.splits), static_cast<unsigned>(s.k / tile.outputs),
                  static_cast<unsigned>(s.n * tiles));
  return launch_clusters(kernel, grid, static_cast<unsigned>(tile.splits), kThreads,
                         few_pixels_shared_bytes(s, tile), stream, f);
}

}  // namespace proa::engine::cuda
