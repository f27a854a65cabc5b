#pragma once

#include <memory>

#include "base/clock.h"
#include "core/backend.h"

namespace proa::backends::openvino {

struct BackendOptions {
  int processors = 0;  // that models may keep busy; 0 = available_cpus()
  const Clock* clock = &steady_clock();
};

// Backend "openvino": ONNX, OpenVINO IR, TensorFlow SavedModel, TensorFlow Lite and PaddlePaddle
// models on the CPU (docs/backend-openvino.md). OpenVINO itself starts with the first model.
// Must be called while the process has one thread (it sets an environment variable, see
// runtime.h).
std::unique_ptr<core::Backend> create_openvino_backend(const BackendOptions& options = {});

}  // namespace proa::backends::openvino
