#include "observe/gpu_monitor.h"

#include <dlfcn.h>

#include <array>

namespace proa::observe {
namespace {

// The few declarations of nvml.h that are used; the library's interface is fixed.
using Device = struct NvmlDevice*;
struct Utilization {
  unsigned gpu, memory;  // percent
};
struct Memory {
  unsigned long long total, free, used;
};
constexpr int kSuccess = 0;
constexpr unsigned kUuidBytes = 96;

}  // namespace

struct GpuMonitor::Library {
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;             // milliwatts
  int (*power_limit)(Device, unsigned*) = nullptr;       // milliwatts
  int (*energy)(Device, unsigned long long*) = nullptr;  // millijoules
};

// The library stays loaded for the life of the process.
GpuMonitor::GpuMonitor() {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return;
  auto library = std::make_unique<Library>();
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  const bool complete = find(library->init, "nvmlInit_v2") &&
                        find(library->count, "nvmlDeviceGetCount_v2") &&
                        find(library->handle, "nvmlDeviceGetHandleByIndex_v2") &&
                        find(library->uuid, "nvmlDeviceGetUUID") &&
                        find(library->utilization, "nvmlDeviceGetUtilizationRates") &&
                        find(library->memory, "nvmlDeviceGetMemoryInfo") &&
                        find(library->power, "nvmlDeviceGetPowerUsage") &&
                        find(library->power_limit, "nvmlDeviceGetEnforcedPowerLimit") &&
                        find(library->energy, "nvmlDeviceGetTotalEnergyConsumption");
  if (complete && library->init() == kSuccess) library_ = std::move(library);
}

GpuMonitor::~GpuMonitor() = default;

std::vector<GpuReading> GpuMonitor::read() const {
  std::vector<GpuReading> readings;
  unsigned count = 0;
  if (library_ == nullptr || library_->count(&count) != kSuccess) return readings;
  constexpr double kMilli = 1e-3;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (library_->handle(i, &device) != kSuccess) continue;
    GpuReading& reading = readings.emplace_back();
    std::array<char, kUuidBytes> uuid{};
    if (library_->uuid(device, uuid.data(), kUuidBytes) == kSuccess) reading.uuid = uuid.data();
    if (Utilization share{}; library_->utilization(device, &share) == kSuccess) {
      reading.utilization = share.gpu / 100.0;
    }
    if (Memory memory{}; library_->memory(device, &memory) == kSuccess) {
      reading.memory_used_bytes = static_cast<double>(memory.used);
      reading.memory_total_bytes = static_cast<double>(memory.total);
    }
    if (unsigned watts = 0; library_->power(device, &watts) == kSuccess) {
      reading.power_watts = watts * kMilli;
    }
    if (unsigned watts = 0; library_->power_limit(device, &watts) == kSuccess) {
      reading.power_limit_watts = watts * kMilli;
    }
    if (unsigned long long joules = 0; library_->energy(device, &joules) == kSuccess) {
      reading.energy_joules = static_cast<double>(joules) * kMilli;
    }
  }
  return readings;
}

}  // namespace proa::observe
