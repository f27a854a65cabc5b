#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/list.h"
#include "base/result.h"
#include "base/timer.h"
#include "core/model.h"
#include "core/reaper.h"

namespace proa {

// A model that runs in this process, with all that it needs around it.
// Threading: load() once, while the process has one thread (backends/list.h); then as core::Model.
class LocalRuntime {
 public:
  LocalRuntime() : backends_({.timer = &timer_}) {}
  ~LocalRuntime();
  LocalRuntime(const LocalRuntime&) = delete;

  // A model file or a model's folder; its latest version. `warm_up` = false: the first requests of
  // each batch size pay for what a server pays before it is ready.
  // Errors name the file and the reason.
  Status load(const std::filesystem::path& path, bool warm_up);

  const std::shared_ptr<core::Model>& model() const { return model_; }
  // The class labels of each output.
  const std::vector<std::vector<std::string>>& labels() const { return labels_; }

 private:
  TimerThread timer_;
  backends::BackendList backends_;  // outlives the models, the last of which the reaper ends
  core::Reaper reaper_;
  std::vector<std::vector<std::string>> labels_;
  std::shared_ptr<core::Model> model_;
};

}  // namespace proa
