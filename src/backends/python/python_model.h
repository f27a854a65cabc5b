#pragma once

#include <memory>
#include <vector>

#include "backends/python/python_instance.h"
#include "backends/python/session.h"
#include "base/mutex.h"
#include "core/backend.h"

namespace proa::backends::python {

// A version of a model whose instances are worker processes.
// Threading: thread-safe.
class PythonModel final : public core::LoadedModel {
 public:
  explicit PythonModel(WorkerPlan plan) : plan_(std::move(plan)), use_(plan_.memory->start_use()) {}

  core::Execution execution() const override { return core::Execution::kAsync; }
  Result<std::unique_ptr<core::Instance>> create_instance(
      const core::InstancePlacement& placement) override PROA_EXCLUDES(mutex_);
  // Nothing while one worker is ready; else how the first one ended.
  Status health() const override PROA_EXCLUDES(mutex_);

 private:
  const WorkerPlan plan_;
  const std::shared_ptr<void> use_;
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<WorkerState>> workers_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::python
