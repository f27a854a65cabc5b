// What the makers of our own kernels ask of a device: the emulator is one with two multiprocessors.
#include "engine/cuda/device.h"

#include "engine/cuda/status.h"

namespace proa::engine::cuda {

Result<int> multiprocessor_count() { return 2; }

Status cuda_status(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  return error::internal("{}", call);
}

Result<std::unique_ptr<Libraries>> Libraries::create() {
  return std::unique_ptr<Libraries>(new Libraries);
}
Libraries::~Libraries() = default;

}  // namespace proa::engine::cuda
