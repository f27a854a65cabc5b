#include "backends/list.h"

#include "backends/cuda/cuda_backend.h"
#include "backends/identity/identity_backend.h"
#include "backends/image/image_backend.h"
#include "backends/index/index_backend.h"
#include "backends/openvino/openvino_backend.h"
#include "backends/python/python_backend.h"
#include "base/log.h"
#include "fmt/ranges.h"

namespace proa::backends {

// Every backend, in alphabetic order.
BackendList::BackendList(const Context& context) {
  backends_.push_back(cuda::create_cuda_backend({.tuning_cache = context.gpu_tuning_cache,
                                                 .memory_limits = context.gpu_memory_limits,
                                                 .clock = context.clock}));
  backends_.push_back(make_identity_backend(context.clock, context.timer));
  backends_.push_back(make_image_backend(context.clock));
  backends_.push_back(index::make_index_backend(context.clock));
  backends_.push_back(openvino::create_openvino_backend({.clock = context.clock}));
  backends_.push_back(python::create_python_backend({.clock = context.clock,
                                                     .timer = context.timer,
                                                     .memory = context.shared_memory,
                                                     .models = context.models,
                                                     .metrics = context.metrics}));
}

std::vector<std::string_view> BackendList::names() const {
  std::vector<std::string_view> names;
  for (const auto& backend : backends_) names.push_back(backend->name());
  return names;
}

Result<core::Backend*> BackendList::find(std::string_view name) const {
  for (const auto& backend : backends_) {
    if (backend->name() == name) return backend.get();
  }
  return error::not_found("there is no backend '{}'; set `backend` to one of: {}",
                          log::printable(name), fmt::join(names(), ", "));
}

}  // namespace proa::backends
