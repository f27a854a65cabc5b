#include "backends/openvino/runtime.h"

#include <cstdlib>

#include "backends/openvino/guard.h"
#include "openvino/runtime/properties.hpp"

namespace proa::backends::openvino {
namespace {

ov::element::Type to_ov(Precision precision) {
  switch (precision) {
    case Precision::kF32:
      return ov::element::f32;
    case Precision::kBf16:
      return ov::element::bf16;
    case Precision::kF16:
      return ov::element::f16;
  }
  return ov::element::f32;
}

}  // namespace

Runtime::Runtime() { setenv("TBB_ENABLE_SANITIZERS", "1", 0); }

ov::Core& Runtime::core() {
  MutexLock lock(mutex_);
  if (!core_) core_.emplace();
  return *core_;
}

Result<ov::CompiledModel> Runtime::compile(const std::shared_ptr<const ov::Model>& model,
                                           const Options& options) {
  return guarded(ErrorCode::kInvalidArgument,
                 "the CPU engine cannot compile the model; export it again with another opset, or "
                 "simplify it with onnxsim. OpenVINO says",
                 [&]() -> Result<ov::CompiledModel> {
                   // Pinning would put the threads of two models on the same processors.
                   return core().compile_model(
                       model, "CPU", ov::hint::inference_precision(to_ov(options.precision)),
                       ov::num_streams(options.streams), ov::inference_num_threads(options.threads),
                       ov::hint::enable_cpu_pinning(false));
                 });
}

}  // namespace proa::backends::openvino
