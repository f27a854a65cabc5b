#pragma once

#include <memory>
#include <optional>

#include "backends/openvino/settings.h"
#include "base/mutex.h"
#include "base/result.h"
#include "openvino/runtime/compiled_model.hpp"
#include "openvino/runtime/core.hpp"

namespace proa::backends::openvino {

// OpenVINO's library state, made with the first model that needs it. Threading: thread-safe.
class Runtime {
 public:
  // How a model is to use the machine.
  struct Options {
    Precision precision = Precision::kF32;
    int streams = 1;  // inferences that run side by side
    int threads = 1;  // of all streams together
  };

  // Tells oneTBB to leave libtbbbind alone (it aborts beside mimalloc). Must run while the process
  // has one thread: it changes the environment.
  Runtime();

  // Compiles for the CPU. Errors: kInvalidArgument with OpenVINO's reason.
  Result<ov::CompiledModel> compile(const std::shared_ptr<const ov::Model>& model,
                                    const Options& options) PROA_EXCLUDES(mutex_);

 private:
  ov::Core& core() PROA_EXCLUDES(mutex_);

  Mutex mutex_;
  std::optional<ov::Core> core_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::openvino
