#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/model.h"
#include "lifecycle/catalog.h"
#include "lifecycle/model_loader.h"
#include "lifecycle/worker_pool.h"

namespace proa::lifecycle {

// How the first load of all models ended.
struct LoadSummary {
  std::size_t ready = 0;
  std::vector<std::string> failed;  // names, in order
};

// The models of a server: loads those of its folders in the background, finds them for requests,
// and takes them down. One bad model never takes the others down; its reason stands in the index
// and in the log.
//
// Life: start(), then anything, then shut_down(). The destructor waits for loads that have begun
// and ends the others with an error; requests in flight may outlive the repository. Threading:
// thread-safe; start() and shut_down() are called once.
class ModelRepository {
 public:
  struct Options {
    std::vector<std::filesystem::path> folders;
    ModelLoader::Options loader;
    int load_threads = 4;
    // Ready only while every model is (Triton's --strict-readiness). Otherwise: once the first load
    // of every model has ended, well or not.
    bool strict_readiness = false;
    // How long requests may go on after their model was unloaded; then what is queued is refused.
    std::chrono::milliseconds unload_drain{30'000};
    // Called once, on a load thread (by start() when there is no model), when the first load of
    // every model has ended.
    std::function<void(const LoadSummary&)> on_loaded;
  };

  explicit ModelRepository(Options options);
  ~ModelRepository();

  // Lists the models and begins to load them all; does not wait for them.
  // Errors: a folder that does not exist or cannot be read.
  Status start() PROA_EXCLUDES(mutex_);

  // The version with that number, the latest ready one for "": see Snapshot::find(). Holding the
  // result keeps the version in memory. Cheap enough for every request.
  Result<std::shared_ptr<core::Model>> find(std::string_view name, std::string_view version) const {
    return catalog_->find(name, version);
  }

  // May requests come? See Options::strict_readiness.
  bool ready() const PROA_EXCLUDES(mutex_);
  // Is that version (any, for "") ready? Errors: as find(), with the reason.
  Status model_ready(std::string_view name, std::string_view version) const;

  // Every version of every model with its state, in order.
  std::vector<VersionStatus> index() const { return catalog_->index(); }
  // The versions of the model that are ready, ascending; empty for unknown models.
  std::vector<std::int64_t> ready_versions(std::string_view name) const;
  // All ready versions of all models, for statistics and metrics.
  std::vector<std::shared_ptr<core::Model>> ready_models() const;

  // Loads the model anew from its folder, beside what is there, and swaps when all its versions are
  // ready: no request is dropped. A failed load leaves the old versions. `done` is called on a load
  // thread. Whether clients may ask for it is for the front ends to know.
  void reload(const std::string& name, std::move_only_function<void(Status)> done)
      PROA_EXCLUDES(mutex_);
  // Takes the model down; returns before its requests have ended. Errors: kNotFound.
  Status unload(std::string_view name);

  // Waits until the first load of every model has ended; false when `deadline` came first.
  bool wait_until_loaded(TimePoint deadline) PROA_EXCLUDES(mutex_);

  // Begins no further load, refuses new requests, lets those in flight end until `deadline` (of the
  // machine's clock), then refuses what is still queued. True when all requests ended in time. What
  // loads under way bring is dropped.
  bool shut_down(TimePoint deadline) PROA_EXCLUDES(mutex_);
  // After shut_down(): waits for the loads under way, which nothing can interrupt. So does the
  // destructor; this says so in the log.
  void wait_for_loads() PROA_EXCLUDES(mutex_);

 private:
  Result<std::set<std::string>> open_folders() PROA_EXCLUDES(mutex_);
  Status load(const std::string& name) PROA_EXCLUDES(mutex_);
  Status try_load(const std::string& name) PROA_EXCLUDES(mutex_);
  Status load_versions(const ModelPlan& plan);
  // The one repository folder that holds the model. Errors: none does, or several.
  Result<storage::LocalFolder> folder_of(const std::string& name) const PROA_EXCLUDES(mutex_);
  void first_load_ended(const std::string& name, bool loaded) PROA_EXCLUDES(mutex_);

  const Options options_;
  const ModelLoader loader_;
  const std::shared_ptr<Catalog> catalog_;

  mutable Mutex mutex_;
  CondVar loaded_;
  std::vector<storage::LocalFolder> folders_ PROA_GUARDED_BY(mutex_);
  std::size_t loading_ PROA_GUARDED_BY(mutex_) = 0;    // first loads that have not ended
  std::size_t under_way_ PROA_GUARDED_BY(mutex_) = 0;  // loads that a thread is busy with
  LoadSummary summary_ PROA_GUARDED_BY(mutex_);
  bool started_ PROA_GUARDED_BY(mutex_) = false;
  bool shutting_down_ PROA_GUARDED_BY(mutex_) = false;

  WorkerPool pool_;  // last: its jobs use everything above
};

}  // namespace proa::lifecycle
