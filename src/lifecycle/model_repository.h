#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/model.h"
#include "lifecycle/catalog.h"
#include "lifecycle/keyed_jobs.h"
#include "lifecycle/load_request.h"
#include "lifecycle/model_loader.h"
#include "lifecycle/model_updater.h"
#include "lifecycle/poll_policy.h"
#include "lifecycle/step_loads.h"
#include "lifecycle/worker_pool.h"

namespace proa::lifecycle {

// How the first load of all models ended; one that was unloaded before its steps were there counts
// as neither.
struct LoadSummary {
  std::size_t ready = 0;
  std::vector<std::string> failed;  // names, in order
};

// Loads since the start, by how they ended; those of models that are nowhere do not count.
struct LoadCounts {
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
};

// When models are loaded and unloaded; Triton's --model-control-mode.
enum class ControlMode : std::uint8_t {
  kNone,      // all at the start
  kPoll,      // all at the start, then as their files change, come and go
  kExplicit,  // some at the start, then as clients ask
};

// The models of a server: loads those of its folders in the background, finds them for requests,
// keeps up with changes as its mode says, and takes them down. One bad model never takes the others
// down; its reason stands in the index and in the log.
//
// Loads and unloads of one model happen one after the other, in the order they were asked for; so
// the last one decides. Those of different models happen side by side.
//
// Life: start(), then anything, then shut_down(). The destructor waits for loads that have begun
// and ends the others with an error; requests in flight may outlive the repository. Threading:
// thread-safe; start() and shut_down() are called once.
class ModelRepository {
 public:
  struct Options {
    std::vector<std::filesystem::path> folders;
    ModelLoader::Options loader;
    ControlMode mode = ControlMode::kNone;
    // kExplicit: the models to load at the start; kEveryModel alone stands for all.
    std::vector<std::string> startup_models;
    // kPoll: between two looks at the files; after a change the next look comes sooner.
    std::chrono::milliseconds poll_interval{15'000};
    std::chrono::milliseconds settle_time{2'000};
    int load_threads = 4;
    int load_retries = 0;  // of a version that fails to load
    // Ready only while every model is that has not been unloaded (Triton's --strict-readiness).
    // Otherwise: once the first load of every model has ended, well or not.
    bool strict_readiness = false;
    // How long requests may go on after their model was unloaded; then what is queued is refused.
    std::chrono::milliseconds unload_drain{30'000};
    // Called once, on a load thread (by start() when there is no model), when the first load of
    // every model has ended.
    std::function<void(const LoadSummary&)> on_loaded;
  };
  static constexpr std::string_view kEveryModel = "*";
  // Of load() and unload() together: those that have not ended. Of list(): those that wait for the
  // disk.
  static constexpr std::size_t kMostRequests = 10'000;
  static constexpr std::size_t kMostRequestsOfOne = 1'000;  // for one model
  static constexpr std::size_t kMoreUnloads = 1'000;        // beyond either: they make room
  static constexpr std::size_t kMostListings = 1'000;

  explicit ModelRepository(Options options);
  ~ModelRepository();

  // Lists the models and begins to load those that the mode wants; does not wait for them.
  // Errors: a folder that does not exist or cannot be read.
  Status start() PROA_EXCLUDES(mutex_);

  ControlMode mode() const { return options_.mode; }

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
  // The same with the models that lie in the repository and were never loaded (UNKNOWN). `done` is
  // called at once where there can be none, otherwise on a thread that may read the disk. Errors,
  // at once: kUnavailable beyond kMostListings.
  using OnIndex = std::move_only_function<void(Result<std::vector<VersionStatus>>)>;
  void list(OnIndex done) PROA_EXCLUDES(mutex_);
  // The versions of the model that are ready, ascending; empty for unknown models.
  std::vector<std::int64_t> ready_versions(std::string_view name) const;
  // All ready versions of all models, for statistics and metrics.
  std::vector<std::shared_ptr<core::Model>> ready_models() const;

  LoadCounts load_counts() const PROA_EXCLUDES(mutex_);

  // Brings the model to what its folder or the request says: see ModelUpdater. Versions load beside
  // what is there and are swapped when all are ready: no request is dropped. A failed load leaves
  // the old versions. An ensemble is loaded when the loads of its steps have ended; in kExplicit
  // mode those that are not there are loaded for it. `done` is called on a load thread. Whether
  // clients may ask for it is for the front ends to know. Errors, at once: kUnavailable beyond
  // kMostRequests or kMostRequestsOfOne, and once the server ends.
  void load(const std::string& name, LoadRequest request,
            std::move_only_function<void(Status)> done) PROA_EXCLUDES(mutex_);
  // Takes the model down, after the loads of it that were asked for before; returns before they and
  // its requests have ended. Nothing happens for models that are not loaded. `with_steps`: of an
  // ensemble also the steps that were loaded because of it alone. An ensemble whose step goes is
  // not ready until the step is back; one whose load waits for its steps waits no longer. Errors:
  // kUnavailable beyond kMoreUnloads more than load() takes.
  Status unload(const std::string& name, bool with_steps = false) PROA_EXCLUDES(mutex_);

  // Waits until the first load of every model has ended; false when `deadline` came first.
  bool wait_until_loaded(TimePoint deadline) PROA_EXCLUDES(mutex_);

  // From now on no load begins, and the server is not ready; models serve on. Those that wait for a
  // load hear of it at once.
  void begin_shut_down() PROA_EXCLUDES(mutex_);
  // begin_shut_down(), then refuses new requests, lets those in flight end until `deadline` (of the
  // machine's clock), then refuses what is still queued. True when all requests ended in time. What
  // loads under way bring is dropped.
  bool shut_down(TimePoint deadline) PROA_EXCLUDES(mutex_);
  // After shut_down(): waits for the loads under way, which nothing can interrupt. So does the
  // destructor; this says so in the log.
  void wait_for_loads() PROA_EXCLUDES(mutex_);

 private:
  // Lists what there is, and keeps the folders.
  Result<std::set<std::string>> open_folders() PROA_EXCLUDES(mutex_);
  std::set<std::string> names_to_load(const std::set<std::string>& found) const;
  std::vector<storage::LocalFolder> folders() const PROA_EXCLUDES(mutex_);
  StepLoads::JobPtr make_job_locked(const std::string& name, LoadRequest request,
                                    std::move_only_function<void(Status)> done)
      PROA_REQUIRES(mutex_);
  void post(StepLoads::JobPtr job);
  void run_load(const StepLoads::JobPtr& job) PROA_EXCLUDES(mutex_);
  Status load_now(LoadJob& job) PROA_EXCLUDES(mutex_);
  Status check_room_locked(const std::string& name, std::size_t more) const PROA_REQUIRES(mutex_);
  void end_request() PROA_EXCLUDES(mutex_);
  void take_down(const std::string& name, bool with_steps) PROA_EXCLUDES(mutex_);
  void post_unload(const std::string& name, Catalog::Afterwards afterwards) PROA_EXCLUDES(mutex_);
  void unload_now(const std::string& name, Catalog::Afterwards afterwards) PROA_EXCLUDES(mutex_);

  Result<bool> steps_settled(const std::string& name, const config::Ensemble* ensemble,
                             bool from_request) PROA_EXCLUDES(mutex_);
  void park(const StepLoads::JobPtr& job) PROA_EXCLUDES(mutex_);
  void resume_parked() PROA_EXCLUDES(mutex_);
  // An ensemble, and whether a load of it is to come.
  struct Follower {
    std::string name;
    bool load_to_come;
  };
  std::vector<Follower> followers_locked(const std::string& step) const PROA_REQUIRES(mutex_);
  void tell_ensembles(const std::string& step) PROA_EXCLUDES(mutex_);
  // `loaded`: the step has just been loaded, not taken out or held back.
  void tell(const std::vector<Follower>& followers, const std::string& step, bool loaded)
      PROA_EXCLUDES(mutex_);
  void recheck_ensemble(const Follower& follower, const std::string& step, bool loaded)
      PROA_EXCLUDES(mutex_);
  void load_for_others(const std::string& name) PROA_EXCLUDES(mutex_);
  std::vector<std::string> steps_to_unload(const std::string& ensemble) const PROA_EXCLUDES(mutex_);

  void first_load_ended(const LoadJob& job, bool loaded) PROA_EXCLUDES(mutex_);
  std::vector<VersionStatus> index_with_unknown() const PROA_EXCLUDES(mutex_);

  void poll() PROA_EXCLUDES(mutex_);
  void act(const PollPolicy::Actions& actions) PROA_EXCLUDES(mutex_);
  std::set<std::string> busy_models() const PROA_EXCLUDES(mutex_);
  void stop_polling() PROA_EXCLUDES(mutex_);

  const Options options_;
  const std::shared_ptr<Catalog> catalog_;
  ModelUpdater updater_;

  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<storage::LocalFolder> folders_ PROA_GUARDED_BY(mutex_);
  std::size_t loading_ PROA_GUARDED_BY(mutex_) = 0;    // first loads that have not ended
  std::size_t under_way_ PROA_GUARDED_BY(mutex_) = 0;  // loads that a thread is busy with
  LoadSummary summary_ PROA_GUARDED_BY(mutex_);
  LoadCounts counts_ PROA_GUARDED_BY(mutex_);
  std::size_t requests_ PROA_GUARDED_BY(mutex_) = 0;  // loads and unloads that were asked for
  std::size_t listings_ PROA_GUARDED_BY(mutex_) = 0;
  StepLoads step_loads_ PROA_GUARDED_BY(mutex_);
  // Models to be loaded at the start that lie nowhere: not in the index, but not ready either.
  std::set<std::string> missing_ PROA_GUARDED_BY(mutex_);
  // Models that were loaded for their own sake and not as the steps of ensembles.
  std::set<std::string> asked_for_ PROA_GUARDED_BY(mutex_);
  bool started_ PROA_GUARDED_BY(mutex_) = false;
  bool shutting_down_ PROA_GUARDED_BY(mutex_) = false;

  // Last: their jobs use everything above.
  KeyedJobs jobs_;      // by model
  WorkerPool listing_;  // reads folders for list()
  std::thread poller_;
};

}  // namespace proa::lifecycle
