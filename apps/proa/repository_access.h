#pragma once

#include "base/mutex.h"
#include "core/model_access.h"
#include "lifecycle/model_repository.h"

namespace proa {

// A repository as the models in it see it. Models may outlive the repository: after close() they
// get kUnavailable. Threading: thread-safe.
class RepositoryAccess final : public core::ModelAccess {
 public:
  // The repository outlives close().
  explicit RepositoryAccess(lifecycle::ModelRepository& repository) : repository_(repository) {}

  Result<std::shared_ptr<core::Model>> find(std::string_view name,
                                            std::string_view version) const override;
  Status ready(std::string_view name, std::string_view version) const override;
  void load(const std::string& name, std::string config_json, std::vector<File> files,
            Done done) override;
  Status unload(const std::string& name, bool with_steps) override;

  // Waits for calls under way; refuses those that come after.
  void close() PROA_EXCLUDES(mutex_);

 private:
  // One call that uses the repository.
  class Use {
   public:
    explicit Use(const RepositoryAccess& access);
    ~Use();
    Status status() const;

   private:
    const RepositoryAccess& access_;
    bool open_ = false;
  };
  Status check_mode() const;

  lifecycle::ModelRepository& repository_;
  mutable Mutex mutex_;
  mutable CondVar ended_;
  mutable int users_ PROA_GUARDED_BY(mutex_) = 0;
  bool closed_ PROA_GUARDED_BY(mutex_) = false;
};

}  // namespace proa
