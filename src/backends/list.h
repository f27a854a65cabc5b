#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/timer.h"
#include "core/backend.h"
#include "core/custom_metrics.h"
#include "core/model_access.h"
#include "tensor/shared_memory.h"

namespace proa::backends {

// What backends get from the process. Everything outlives them.
struct Context {
  const Clock* clock = &steady_clock();
  Timer* timer = nullptr;
  // Where backend cuda keeps what it timed between starts; "" = nowhere.
  std::filesystem::path gpu_tuning_cache;
  // Shares of GPUs' memory, by device, that may be in use after a load.
  std::map<int, double> gpu_memory_limits;
  // Where the bodies of requests come from; backend python hands them to its workers as they are.
  std::shared_ptr<SharedMemory> shared_memory;
  // For models that ask other models, and that have metrics of their own; null = they cannot.
  core::ModelAccess* models = nullptr;
  core::CustomMetrics* metrics = nullptr;
};

// All backends of the program, by name. Making one is cheap: it starts its libraries with the first
// model that it loads. Make the list while the process has one thread (some set environment
// variables).
// Threading: immutable.
class BackendList {
 public:
  explicit BackendList(const Context& context);

  // Lives as long as the list. Errors: kNotFound, naming the backends that there are.
  Result<core::Backend*> find(std::string_view name) const;

  // In alphabetic order.
  std::vector<std::string_view> names() const;

 private:
  std::vector<std::unique_ptr<core::Backend>> backends_;
};

}  // namespace proa::backends
