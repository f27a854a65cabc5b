// A convolution of few pixels: there is little to do and many weights to bring, and every
// multiprocessor should bring its part of them. So the sums are split over the blocks of a cluster
// by input channels: each brings its channels of the picture and of the weights of a few output
// channels, all at once, multiplies, and sends each other block its part of the sums, who adds them
// up and finishes that part.
//
// In a block the warps share the tile's pixels, and then the sums again, by steps of 16 channels.
#include <cuda_pipeline.h>

#include "engine/cuda/kernels/matrix.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarpsLog2 = 3;
static_assert(1 << kWarpsLog2 == kThreads / 32);
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
  float q_inverse, s_inverse;
};

// a / b for small numbers; `inverse` is 1 / b.
__device__ __forceinline__ int divided_by(int a, float inverse) {
  return static_cast<int>((static_cast<float>(a) + 0.5f) * inverse);
}

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

  // Where the lane's row of each tile of 16 pixels begins in the window.
  __device__ __forceinline__ void multiply_steps(const FewPixels& f, Share share,
                                                 const unsigned (&pixel)[2], unsigned filter) {
    const int steps_log2 = f.pieces_log2 - 1, steps = 1 << steps_log2;  // of one tap
    const int pitch = pitch_of(f.channels), taps = f.shape.r * f.shape.s;
    int tap = share.begin >> steps_log2, step = share.begin - tap * steps;
    for (int i = share.begin; i < share.end;) {
      const int r = divided_by(tap, f.s_inverse), s = tap - r * f.shape.s;
      const unsigned offset = static_cast<unsigned>(
          (r * f.shape.dilation_h * f.window_columns + s * f.shape.dilation_w) * pitch);
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
  const int row = pixel < pixels ? divided_by(pixel, f.q_inverse) : 0;
  const int column = pixel < pixels ? pixel - row * f.shape.q : 0;
  const int at = row * f.shape.stride_h * f.window_columns + column * f.shape.stride_w;
  return static_cast<unsigned>(at * pitch_of(f.channels) + lane / 16 * 16);
}

// Where the block's part of two neighbouring outputs goes: the block that adds them up.
__device__ __forceinline__ void send_sums(const FewPixels& f, const float2& sum, int pair,
                                          float2* inbox) {
  const int owner = pair >> f.pairs_log2, from = static_cast<int>(blockIdx.x);
  const int at = (from << f.pairs_log2) + pair - (owner << f.pairs_log2);
  in_block(inbox, static_cast<unsigned>(owner))[at] = sum;
}

template <int kTiles>
__global__ void __launch_bounds__(kThreads, 2) few_pixels_kernel(FewPixels f) {
  constexpr int kOutputs = kTiles * 8, kPitch = sums_pitch(kOutputs), kRowPairs = kOutputs / 2;
  const ConvShape& s = f.shape;
  auto* shared = dynamic_shared<unsigned char>();
  const int tile_pixels = kWarpPixels << f.warps_log2;
  auto* inbox = reinterpret_cast<float2*>(shared);
  unsigned char* weights = shared + tile_pixels * kOutputs * sizeof(float);
  unsigned char* window = weights + kOutputs * s.r * s.s * pitch_of(f.channels);

  const int splits = static_cast<int>(gridDim.x);
  const int first_channel = static_cast<int>(blockIdx.x) * f.channels;
  const int first_output = static_cast<int>(blockIdx.y) * kOutputs;
  load_weights(f, first_output, kOutputs, first_channel, weights);
  if (splits > 1) announce_to_cluster();
  wait_for_previous();
  // Not before: of kernels of clusters that waited for each other, the third was seen to begin when
  // the first had ended.
  allow_next();

  const int n = static_cast<int>(blockIdx.z) / f.tiles;
  const int first_row = (static_cast<int>(blockIdx.z) - n * f.tiles) * f.rows;
  const int pixels = min(f.rows, s.p - first_row) * s.q;
  load_window(f, n, first_row * s.stride_h - s.pad_h, first_channel, window);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int pixel_warp = warp & ((1 << f.warps_log2) - 1), part = warp >> f.warps_log2;
  const int parts_log2 = kWarpsLog2 - f.warps_log2, parts = 1 << parts_log2;
  auto window_address = static_cast<unsigned>(__cvta_generic_to_shared(window));
  auto weight_address = static_cast<unsigned>(__cvta_generic_to_shared(weights));
  tie_to_memory(window_address);
  tie_to_memory(weight_address);
  const int first_pixel = pixel_warp * kWarpPixels;
  const unsigned pixel[2] = {window_address + pixel_offset(f, first_pixel, pixels, lane),
                             window_address + pixel_offset(f, first_pixel + 16, pixels, lane)};
  // The four matrices of a load: channels 0 to 7 and 8 to 15 of 8 filters, then of 8 more.
  const int filter = lane % 8 + lane / 16 * 8;
  const unsigned filters =
      weight_address +
      static_cast<unsigned>(filter * s.r * s.s * pitch_of(f.channels) + (lane / 8 & 1) * 16);
  WarpSums<kTiles> sums;
  const int steps = s.r * s.s * (f.channels / 16);
  const Share share{steps * part >> parts_log2, steps * (part + 1) >> parts_log2};
  sums.multiply_steps(f, share, pixel, filters);
  // What the block finishes, and what it needs for that, ahead. A thread's outputs are the same for
  // all its pairs.
  const int pairs = tile_pixels * kRowPairs, count = 1 << f.pairs_log2;
  const int first_pair = static_cast<int>(blockIdx.x) * count;
  const int output = first_output + static_cast<int>(threadIdx.x) % kRowPairs * 2;
  const std::int64_t first_result =
      (static_cast<std::int64_t>(n) * s.p + first_row) * s.q * s.k + output;
  const auto result_of = [&](int row) {
    return first_result + static_cast<std::int64_t>(row) * s.k;
  };
  const auto residual_at = [&](int row) {
    if (f.residual == nullptr || row >= pixels) return __half2{};
    return *reinterpret_cast<const __half2*>(f.residual + result_of(row));
  };
  __half2 added = residual_at((first_pair + static_cast<int>(threadIdx.x)) / kRowPairs);
  float2 bias = {};
  if (f.bias != nullptr) bias = *reinterpret_cast<const float2*>(f.bias + output);

  __syncthreads();  // the sums take the place of the weights and the picture
  auto* partial = reinterpret_cast<float*>(weights);
  sums.store(partial + (part * tile_pixels + first_pixel) * kPitch, lane);
  __syncthreads();
  if (splits > 1) wait_for_cluster();  // all have begun: they can be written to

  for (int pair = static_cast<int>(threadIdx.x); pair < pairs; pair += kThreads) {
    const float* at = partial + pair / kRowPairs * kPitch + pair % kRowPairs * 2;
    float2 sum = *reinterpret_cast<const float2*>(at);
    for (int i = 1; i < parts; ++i) {
      const float2 more = *reinterpret_cast<const float2*>(at + i * tile_pixels * kPitch);
      sum.x += more.x, sum.y += more.y;
    }
    if (splits > 1) {
      send_sums(f, sum, pair, inbox);
    } else {
      inbox[pair] = sum;  // read by the same thread
    }
  }
  if (splits > 1) {
    arrive_at_cluster();
    wait_for_cluster();
  }

  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    float2 sum = inbox[i];
    for (int from = 1; from < splits; ++from) {
      sum.x += inbox[from * count + i].x, sum.y += inbox[from * count + i].y;
    }
    const int row = (first_pair + i) / kRowPairs;
    if (row >= pixels) break;
    if (i >= kThreads) added = residual_at(row);
    const float2 residual = __half22float2(added);
    *reinterpret_cast<__half2*>(f.y + result_of(row)) =
        __floats2half2_rn(finish(f.finish, sum.x + bias.x + residual.x),
                          finish(f.finish, sum.y + bias.y + residual.y));
  }
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
int extent_of_window(int results, int stride, int taps, int dilation) {
  return (results - 1) * stride + (taps - 1) * dilation + 1;
}

int log2_of(int power) {
  int log2 = 0;
  while (1 << log2 < power) ++log2;
  return log2;
}

}  // namespace

std::size_t few_pixels_shared_bytes(const ConvShape& s, const FewPixelsTile& tile) {
  const int pixels = warps_of_pixels(s, tile) * kWarpPixels;
  const int parts = (1 << kWarpsLog2) / warps_of_pixels(s, tile);
  const int window = extent_of_window(tile.rows, s.stride_h, s.r, s.dilation_h) *
                     extent_of_window(s.q, s.stride_w, s.s, s.dilation_w);
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
  if (kernel == nullptr || s.groups != 1 || s.k % tile.outputs != 0 || s.c % tile.splits != 0 ||
      channels % 16 != 0 || 1 << log2_of(pieces) != pieces || pieces > kThreads ||
      warps > 1 << kWarpsLog2 || 1 << log2_of(tile.splits) != tile.splits) {
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
                    extent_of_window(tile.rows, s.stride_h, s.r, s.dilation_h),
                    extent_of_window(s.q, s.stride_w, s.s, s.dilation_w),
                    channels,
                    log2_of(pieces),
                    log2_of(warps),
                    log2_of(warps * kWarpPixels * tile.outputs / 2 / tile.splits),
                    1.0f / static_cast<float>(s.q),
                    1.0f / static_cast<float>(s.s)};
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
