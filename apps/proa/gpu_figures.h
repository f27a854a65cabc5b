#pragma once

#include <span>
#include <vector>

#include "base/nvml.h"
#include "observe/metrics.h"

namespace proa {

// Triton's nv_gpu_* and nv_energy_consumption of these GPUs. Pure.
std::vector<observe::ServerFigure> gpu_figures(std::span<const GpuReading> readings);

}  // namespace proa
