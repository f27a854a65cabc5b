// Depthwise convolutions, NHWC FP16 with FP32 sums. A thread computes a tile of TH x TW results for
// V channels side by side; each row of the picture is converted once and serves every result that
// it touches. Two ways to the picture: straight from memory through L1, or a block's part of it is
// brought into shared memory first (asynchronous copies, zeros outside of the picture).
#include <cuda_pipeline.h>

#include "engine/cuda/kernels/depthwise.cuh"

namespace proa::engine::cuda {
namespace {

constexpr int kMostThreads = 256;

// Straight from memory: threads of a block are [tiles][vectors of its channels].
template <int K, int S, int V, int TH, int TW>
__global__ void __launch_bounds__(kMostThreads, 2) direct_kernel(Depthwise d) {
  auto* weights = dynamic_shared<float>();
  allow_next();
  const int first = static_cast<int>(blockIdx.y) * d.chunk;
  load_weights<K>(d, first, d.chunk, weights);
  __syncthreads();
  wait_for_previous();
  const int vectors = d.chunk / V;
  const int c = static_cast<int>(threadIdx.x) % vectors * V;
  const DepthwiseShape& s = d.shape;
  const int rows = (s.p + TH - 1) / TH, columns = (s.q + TW - 1) / TW;
  const int tile = static_cast<int>(blockIdx.x * (blockDim.x / static_cast<unsigned>(vectors)) +
                                    threadIdx.x / static_cast<unsigned>(vectors));
  const int n = tile / (rows * columns);
  if (n >= s.n || first + c >= s.c) return;
  const int p = tile / columns % rows * TH, q = tile % columns * TW;
  const int top = p * S - s.pad_h, left = q * S - s.pad_w;
  const __half* picture = d.x + static_cast<std::int64_t>(n) * s.h * s.w * s.c + first + c;
  using Vector = typename Packed<V>::Type;
  const int row_step = s.w * s.c;
  const __half* corner = picture + top * row_step + left * s.c;
  float sums[TH][TW][V];
  begin_sums<V, TH, TW>(d, first + c, sums);
  // Most tiles lie inside of the picture and need no checks.
  if (top >= 0 && left >= 0 && top + (TH - 1) * S + K <= s.h && left + (TW - 1) * S + K <= s.w) {
    convolve<K, S, V, TH, TW>(
        d, weights + c,
        [&](int i, int j) {
          return *reinterpret_cast<const Vector*>(corner + i * row_step + j * s.c);
        },
        sums);
  } else {
    convolve<K, S, V, TH, TW>(
        d, weights + c,
        [&](int i, int j) {
          const bool inside = top + i >= 0 && top + i < s.h && left + j >= 0 && left + j < s.w;
          return inside ? *reinterpret_cast<const Vector*>(corner + i * row_step + j * s.c)
                        : Vector{};
        },
        sums);
  }
  write_sums<V, TH, TW>(d, n, p, q, first + c, sums);
}

// Brings the pixels that a block reads into shared memory, 8 channels a copy; zeros outside of the
// picture.
__device__ __forceinline__ void load_pixels(const Depthwise& d, int n, int first, int top, int left,
                                            int height, int width, uint4* pixels) {
  const DepthwiseShape& s = d.shape;
  const int vectors = d.chunk / 8;
  const int vector = static_cast<int>(threadIdx.x) % vectors;
  const int workers = static_cast<int>(blockDim.x) / vectors;
  const int c = first + vector * 8;
  const __half* picture = d.x + static_cast<std::int64_t>(n) * s.h * s.w * s.c + c;
  int row = 0, column = static_cast<int>(threadIdx.x) / vectors;
  if (column >= workers) return;  // threads that do not divide evenly
  while (true) {
    while (column >= width) {
      column -= width;
      ++row;
    }
    if (row >= height) break;
    const int iy = top + row, ix = left + column;
    const bool inside = iy >= 0 && iy < s.h && ix >= 0 && ix < s.w && c < s.c;
    const __half* from = inside ? picture + (iy * s.w + ix) * s.c : d.x;
    __pipeline_memcpy_async(&pixels[(row * width + column) * vectors + vector], from, 16,
                            inside ? 0 : 16);
    column += workers;
  }
  __pipeline_commit();
}

// A block makes `tile_h` x `tile_w` results of one picture and `chunk` channels.
template <int K, int S, int TH, int TW>
__global__ void __launch_bounds__(kMostThreads, 2)
    tiled_kernel(Depthwise d, int tile_h, int tile_w) {
  constexpr int V = 8;
  auto* shared = dynamic_shared<float>();
  const DepthwiseShape& s = d.shape;
  float* weights = shared;
  auto* pixels = reinterpret_cast<uint4*>(shared + K * K * d.chunk);
  const int first = static_cast<int>(blockIdx.y) * d.chunk;
  allow_next();
  load_weights<K>(d, first, d.chunk, weights);
  wait_for_previous();
  const int across_tiles = (s.q + tile_w - 1) / tile_w;
  const int p = static_cast<int>(blockIdx.x) / across_tiles * tile_h;
  const int q = static_cast<int>(blockIdx.x) % across_tiles * tile_w;
  const int n = static_cast<int>(blockIdx.z);
  const int height = (tile_h - 1) * S + K, width = (tile_w - 1) * S + K;
  load_pixels(d, n, first, p * S - s.pad_h, q * S - s.pad_w, height, width, pixels);
  const int vectors = d.chunk / V;
  const int vector = static_cast<int>(threadIdx.x) % vectors;
  const int worker = static_cast<int>(threadIdx.x) / vectors;
  const int c = first + vector * V;
  const int across = tile_w / TW;
  const int h = worker / across * TH, w = worker % across * TW;
  __pipeline_wait_prior(0);
  __syncthreads();
  if (h >= tile_h || c >= s.c || p + h >= s.p || q + w >= s.q) return;
  const uint4* corner = pixels + (h * S * width + w * S) * vectors + vector;
  const auto fetch = [&](int i, int j) { return corner[(i * width + j) * vectors]; };
  float sums[TH][TW][V];
  begin_sums<V, TH, TW>(d, c, sums);
  convolve<K, S, V, TH, TW>(d, weights + vector * V, fetch, sums);
  write_sums<V, TH, TW>(d, n, p + h, q + w, c, sums);
}

using DirectKernel = void (*)(Depthwise);
using TiledKernel = void (*)(Depthwise, int, int);

template <int K, int S>
DirectKernel direct_of(const DepthwiseTile& tile) {
  const auto is = [&](int vector, int rows, int columns) {
    return tile.vector == vector && tile.rows == rows && tile.columns == columns;
  };
  if (is(2, 1, 1)) return direct_kernel<K, S, 2, 1, 1>;
  if (is(2, 1, 2)) return direct_kernel<K, S, 2, 1, 2>;
  if (is(4, 1, 1)) return direct_kernel<K, S, 4, 1, 1>;
  if (is(4, 1, 4)) return direct_kernel<K, S, 4, 1, 4>;
  if (is(4, 2, 2)) return direct_kernel<K, S, 4, 2, 2>;
  if (is(4, 2, 4)) return direct_kernel<K, S, 4, 2, 4>;
  if (is(8, 1, 2)) return direct_kernel<K, S, 8, 1, 2>;
  if (is(8, 1, 4)) return direct_kernel<K, S, 8, 1, 4>;
  if (is(8, 2, 2)) return direct_kernel<K, S, 8, 2, 2>;
  return nullptr;
}

template <int K, int S>
TiledKernel tiled_of(const DepthwiseTile& tile) {
  if (tile.rows == 1 && tile.columns == 7) return tiled_kernel<K, S, 1, 7>;
  if (tile.rows == 2 && tile.columns == 4) return tiled_kernel<K, S, 2, 4>;
  return nullptr;
}

template <int K, int S>
cudaError_t launch_of(const Depthwise& d, const DepthwiseTile& tile, cudaStream_t stream) {
  const DepthwiseShape& s = d.shape;
  const int chunks = (s.c + d.chunk - 1) / d.chunk;
  const std::size_t weight_bytes = sizeof(float) * K * K * static_cast<std::size_t>(d.chunk);
  if (tile.tile_h == 0) {
    const DirectKernel kernel = direct_of<K, S>(tile);
    if (kernel == nullptr) return cudaErrorInvalidValue;
    const int vectors = d.chunk / tile.vector, tiles = kMostThreads / vectors;
    const int all = s.n * divided(s.p, tile.rows) * divided(s.q, tile.columns);
    const dim3 grid(static_cast<unsigned>(divided(all, tiles)), static_cast<unsigned>(chunks));
    return launch_grid(kernel, grid, tiles * vectors, weight_bytes, stream, d);
  }
  const TiledKernel kernel = tiled_of<K, S>(tile);
  if (kernel == nullptr) return cudaErrorInvalidValue;
  const int threads = tile.tile_h / tile.rows * (tile.tile_w / tile.columns) * (d.chunk / 8);
  const std::size_t bytes = depthwise_shared_bytes(s, tile);
  if (threads > kMostThreads || bytes > kDepthwiseShared) return cudaErrorInvalidValue;
  const dim3 grid(static_cast<unsigned>(divided(s.p, tile.tile_h) * divided(s.q, tile.tile_w)),
                  static_cast<unsigned>(chunks), static_cast<unsigned>(s.n));
  return launch_grid(kernel, grid, threads, bytes, stream, d, tile.tile_h, tile.tile_w);
}

}  // namespace

std::size_t depthwise_shared_bytes(const DepthwiseShape& s, const DepthwiseTile& tile) {
  const int height = (tile.tile_h - 1) * s.stride + s.kernel;
  const int width = (tile.tile_w - 1) * s.stride + s.kernel;
  return sizeof(float) * static_cast<std::size_t>(tile.chunk * s.kernel * s.kernel) +
         sizeof(__half) * static_cast<std::size_t>(tile.chunk * height * width);
}

cudaError_t launch_depthwise(const void* x, const DepthwiseWork& work, const DepthwiseTile& tile,
                             cudaStream_t stream) {
  const DepthwiseShape& shape = work.shape;
  Depthwise d = depthwise_of(work, tile.chunk);
  d.x = static_cast<const __half*>(x);
  if (shape.kernel == 3 && shape.stride == 1) return launch_of<3, 1>(d, tile, stream);
  if (shape.kernel == 3 && shape.stride == 2) return launch_of<3, 2>(d, tile, stream);
  if (shape.kernel == 5 && shape.stride == 1) return launch_of<5, 1>(d, tile, stream);
  if (shape.kernel == 5 && shape.stride == 2) return launch_of<5, 2>(d, tile, stream);
  return cudaErrorInvalidValue;
}

}  // namespace proa::engine::cuda
