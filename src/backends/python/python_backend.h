#pragma once

#include <memory>

#include "base/clock.h"
#include "base/timer.h"
#include "core/backend.h"
#include "core/custom_metrics.h"
#include "core/model_access.h"
#include "tensor/shared_memory.h"

namespace proa::backends::python {

// Backend "python": Triton's model.py in worker processes, one for each instance;
// docs/backend-python.md. All pointers outlive the backend.
struct PythonOptions {
  const Clock* clock = nullptr;
  Timer* timer = nullptr;
  // Where the bodies of requests come from, so that they need no copy; null = one of its own.
  std::shared_ptr<SharedMemory> memory;
  core::ModelAccess* models = nullptr;     // for BLS; null = there is none
  core::CustomMetrics* metrics = nullptr;  // of model.py; null = it has none
};
std::unique_ptr<core::Backend> create_python_backend(PythonOptions options);

}  // namespace proa::backends::python
