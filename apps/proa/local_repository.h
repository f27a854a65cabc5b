#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "backends/list.h"
#include "base/result.h"
#include "base/timer.h"
#include "core/model.h"
#include "core/reaper.h"
#include "lifecycle/model_repository.h"

namespace proa {

// One model of a repository that runs in this process, with the models that it is made of.
// Threading: make it while the process has one thread (backends/list.h); then thread-safe.
class LocalRepository {
 public:
  explicit LocalRepository(const std::filesystem::path& folder);
  // Requests in flight must have ended.
  ~LocalRepository();
  LocalRepository(const LocalRepository&) = delete;

  // Loads the model and waits for it; its latest version. Once.
  // Errors: the folder's, the model's; kNotFound.
  Result<std::shared_ptr<core::Model>> load(const std::string& name);

 private:
  TimerThread timer_;
  backends::BackendList backends_;  // outlives the models, the last of which the reaper ends
  core::Reaper reaper_;
  lifecycle::ModelRepository repository_;
};

}  // namespace proa
