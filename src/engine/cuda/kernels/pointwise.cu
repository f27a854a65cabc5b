#include "engine/cuda/kernels/device.cuh"

namespace proa::engine::cuda {
namespace {

struct Pointwise {
  Operand a, b;
  bool has_b;
  BinaryKind kind;
  Activation act;
  std::int64_t count;
  int channels;
};

__device__ __forceinline__ float read(const Operand& operand, std::int64_t i, int channels) {
  if (operand.spread == Spread::kScalar) return load(operand.source, 0);
  if (operand.spread == Spread::kVector) return load(operand.source, i % channels);
  return load(operand.source, i);
}

__global__ void pointwise_kernel(Pointwise p, void* y, Number y_type) {
  wait_for_inputs();
  const std::int64_t i = thread_index();
  if (i >= p.count) return;
  float x = read(p.a, i, p.channels);
  if (p.has_b) x = combine(p.kind, x, read(p.b, i, p.channels));
  store(y, y_type, i, apply_on_device(p.act, x));
}

}  // namespace

cudaError_t launch_pointwise(Operand a, Operand b, bool has_b, BinaryKind kind, Activation act,
                             void* y, Number y_type, std::int64_t count, int channels,
                             cudaStream_t stream) {
  const Pointwise p{a, b, has_b, kind, act, count, channels};
  return launch(pointwise_kernel, count, 256, stream, p, y, y_type);
}

}  // namespace proa::engine::cuda
