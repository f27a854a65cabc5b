#include "observe/gpu_figures.h"

namespace proa::observe {

std::vector<ServerFigure> gpu_figures(std::span<const GpuReading> readings) {
  using Figure = ServerFigure;
  struct Row {
    const char* name;
    const char* help;
    double GpuReading::* value;
    Figure::Kind kind = Figure::Kind::kGauge;
  };
  static constexpr Row kRows[] = {
      {"nv_gpu_utilization", "GPU utilization rate [0.0 - 1.0)", &GpuReading::utilization},
      {"nv_gpu_memory_total_bytes", "GPU total memory, in bytes", &GpuReading::memory_total_bytes},
      {"nv_gpu_memory_used_bytes", "GPU used memory, in bytes", &GpuReading::memory_used_bytes},
      {"nv_gpu_power_usage", "GPU power usage in watts", &GpuReading::power_watts},
      {"nv_gpu_power_limit", "GPU power management limit in watts", &GpuReading::power_limit_watts},
      {"nv_energy_consumption", "GPU energy consumption in joules since the driver was loaded",
       &GpuReading::energy_joules, Figure::Kind::kCounter},
  };
  std::vector<Figure> figures;
  for (const Row& row : kRows) {
    for (const GpuReading& reading : readings) {
      figures.push_back(
          {row.name, row.help, row.kind, {{"gpu_uuid", reading.uuid}}, reading.*row.value});
    }
  }
  return figures;
}

}  // namespace proa::observe
