#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace proa::observe {

// What NVIDIA's management library says of one GPU. What it does not know is 0.
struct GpuReading {
  std::string uuid;        // "GPU-5c1f..."
  double utilization = 0;  // share of the last moments in which kernels ran, 0 to 1
  double memory_used_bytes = 0;
  double memory_total_bytes = 0;
  double power_watts = 0;
  double power_limit_watts = 0;
  double energy_joules = 0;  // since the driver was loaded
};

// Reads the GPUs of the machine through libnvidia-ml.so.1, which comes with the driver and is
// loaded when it is first asked; machines without it have no readings. All GPUs of the machine,
// also those that CUDA_VISIBLE_DEVICES hides. Source: NVML API reference, "Device Queries".
// Threading: thread-safe.
class GpuMonitor {
 public:
  GpuMonitor();
  ~GpuMonitor();
  std::vector<GpuReading> read() const;

 private:
  struct Library;
  std::unique_ptr<const Library> library_;  // null: not there
};

}  // namespace proa::observe
