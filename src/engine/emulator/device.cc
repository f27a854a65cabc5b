// What the makers of our own kernels ask of a device. The emulator is a small one, so that blocks
// have several tiles each.
#include "engine/cuda/device.h"

#include "engine/cuda/status.h"
#include "engine/emulator/emulator.h"

namespace proa::engine::cuda {

Result<DeviceLimits> device_limits() { return DeviceLimits{1, emulator::kSharedBytes}; }

Status cuda_status(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  return error::internal("{}", call);
}

Result<std::unique_ptr<Libraries>> Libraries::create() {
  return std::unique_ptr<Libraries>(new Libraries);
}
Libraries::~Libraries() = default;

}  // namespace proa::engine::cuda
