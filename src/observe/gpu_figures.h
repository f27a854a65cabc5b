#pragma once

#include <span>
#include <vector>

#include "observe/gpu_monitor.h"
#include "observe/metrics.h"

namespace proa::observe {

// Triton's nv_gpu_* and nv_energy_consumption of these GPUs. Pure.
std::vector<ServerFigure> gpu_figures(std::span<const GpuReading> readings);

}  // namespace proa::observe
