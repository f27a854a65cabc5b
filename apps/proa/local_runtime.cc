#include "local_runtime.h"

#include "local_model.h"

namespace proa {

LocalRuntime::~LocalRuntime() {
  if (model_ != nullptr) model_->shut_down();
}

Status LocalRuntime::load(const std::filesystem::path& path, bool warm_up) {
  PROA_ASSIGN(LocalModel local, open_local_model(path, backends_));
  if (!warm_up && local.config.backend == "openvino") {
    local.config.parameters.emplace("warm_up_ms", "0");
  }
  PROA_ASSIGN(auto loaded, local.backend->load(local.files, local.config));
  labels_ = std::move(local.labels);
  core::Model::Options options;
  options.timer = &timer_;
  options.reaper = &reaper_;
  PROA_ASSIGN(model_, core::Model::create(std::move(local.config), local.files.version,
                                          std::move(loaded), std::move(options)));
  return {};
}

}  // namespace proa
