#include "backends/python/python_model.h"

#include <utility>

namespace proa::backends::python {

Result<std::unique_ptr<core::Instance>> PythonModel::create_instance(
    const core::InstancePlacement& placement) {
  auto state = std::make_shared<WorkerState>();
  const bool gpu = placement.kind == config::InstanceGroup::Kind::kGpu;
  PROA_ASSIGN(auto instance, PythonInstance::create(plan_, {.name = placement.name,
                                                            .kind = gpu ? "GPU" : "CPU",
                                                            .device = placement.device,
                                                            .state = state}));
  MutexLock lock(mutex_);
  workers_.push_back(std::move(state));
  return instance;
}

Status PythonModel::health() const {
  MutexLock lock(mutex_);
  for (const auto& worker : workers_) {
    if (worker->status()) return {};
  }
  return workers_.empty() ? Status() : workers_.front()->status();
}

}  // namespace proa::backends::python
