#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "base/clock.h"
#include "core/backend.h"
#include "engine/run/device_engine.h"

namespace proa::backends::cuda {

struct BackendOptions {
  // Where kernels' timings are kept between starts; "" = nowhere.
  std::filesystem::path tuning_cache;
  // Shares of GPUs' memory, by device, that may be in use after a load; loads beyond fail.
  std::map<int, double> memory_limits;
  int build_threads = 0;  // that build kernels at load; 0 = as many as the process has processors
  const Clock* clock = &steady_clock();
  // Gives the engine, at the first load. Empty: libproa_cuda.so. Tests bring the host's.
  std::function<Result<engine::DeviceEngine*>()> open_engine;
};

// Backend "cuda": any file that backend openvino reads, on NVIDIA GPUs by src/engine.
// docs/backend-cuda.md. Nothing of CUDA is loaded before the first model that wants it.
std::unique_ptr<core::Backend> create_cuda_backend(const BackendOptions& options);

}  // namespace proa::backends::cuda
