#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/model.h"
#include "lifecycle/snapshot.h"

namespace proa::lifecycle {

// The reason of versions that were meant to go.
inline constexpr std::string_view kUnloaded = "unloaded";

// One line of the repository index.
struct VersionStatus {
  std::string model;
  std::string version;  // "" while no version of the model is known
  VersionState state = VersionState::kLoading;
  // Why it is not ready; of a ready one, why the load that was to replace it failed. "" = nothing.
  std::string reason;
};

// Which models there are, in which versions and states: the one place where a request finds its
// model, and where a new version takes the place of an old one.
//
// A version that leaves the catalog lives on until the last request that found it is gone; only
// then it counts as unloaded. To know that moment, the catalog hands out leases: pointers to the
// model with a count of their own.
//
// find() is on the path of every request: it takes no lock and allocates nothing unless the catalog
// has changed since this thread's last call. Each thread keeps the last snapshot it saw.
//
// Owned by shared_ptr. Threading: thread-safe.
class Catalog : public std::enable_shared_from_this<Catalog> {
 public:
  using ModelPtr = std::shared_ptr<core::Model>;

  struct LoadedVersion {
    std::int64_t version = 0;
    Result<ModelPtr> model;  // or why it could not be loaded
  };

  Catalog();

  // The models now. The reference holds until this thread's next call on any catalog.
  const Snapshot& snapshot() const;
  // See Snapshot::find(). A version that was replaced while the snapshot was looked at is no
  // failure: there is a newer one.
  Result<ModelPtr> find(std::string_view name, std::string_view version) const {
    while (true) {
      const std::uint64_t before = generation_.load(std::memory_order_acquire);
      Result<ModelPtr> found = snapshot().find(name, version);
      if (found || generation_.load(std::memory_order_acquire) == before) return found;
    }
  }

  // In the order of names and versions.
  std::vector<VersionStatus> index() const PROA_EXCLUDES(mutex_);

  // A load has begun: unless the model has versions, it shows as LOADING.
  void begin_load(const std::string& name) PROA_EXCLUDES(mutex_);
  // The load ended in vain. Versions that are ready stay and carry the reason; the `failed` ones,
  // where they are not ready, show as UNAVAILABLE. Nothing happens for models that no load was
  // begun for.
  struct FailedVersion {
    std::int64_t version = 0;
    std::string reason;
  };
  void fail_load(std::string_view name, const std::string& reason,
                 std::span<const FailedVersion> failed = {}) PROA_EXCLUDES(mutex_);
  // These versions take the place of all that the model had, at once, except for those that are to
  // be kept: they stay as they are.
  void replace(const std::string& name, std::vector<LoadedVersion> versions,
               std::span<const std::int64_t> keep = {}) PROA_EXCLUDES(mutex_);
  // Takes the model's versions out; they show as UNLOADING until their last request is gone, then
  // as UNAVAILABLE, both with `reason`. With kForget the model is in no index afterwards.
  // Errors: kNotFound.
  enum class Afterwards : std::uint8_t { kRemember, kForget };
  Status retire(std::string_view name, const std::string& reason,
                Afterwards afterwards = Afterwards::kRemember) PROA_EXCLUDES(mutex_);
  // The same for all models, for good: what is loaded later is dropped.
  void close(const std::string& reason) PROA_EXCLUDES(mutex_);

  bool has_ready(std::string_view name) const PROA_EXCLUDES(mutex_);
  bool is_ready(std::string_view name, std::int64_t version) const PROA_EXCLUDES(mutex_);
  // Some version is in memory: ready, or held back by recheck().
  bool has_loaded(std::string_view name) const PROA_EXCLUDES(mutex_);

  // Asks the versions of an ensemble whether their steps are there and fit (Model::pin). One whose
  // do not is held back: UNAVAILABLE with the reason, although in memory, until they do; requests
  // that have found it go on. True when one became ready or is not ready any more.
  bool recheck(std::string_view name) PROA_EXCLUDES(mutex_);
  // All versions that are ready, in order.
  std::vector<ModelPtr> ready_models() const PROA_EXCLUDES(mutex_);

  // The models that left the catalog and still have requests; of `name` only, unless it is "".
  std::vector<ModelPtr> retired(std::string_view name) const PROA_EXCLUDES(mutex_);
  // Waits until there are none; false when `deadline` (of the machine's clock) came first.
  bool wait_until_drained(TimePoint deadline) PROA_EXCLUDES(mutex_);

 private:
  struct Lease;
  struct Version {
    VersionState state = VersionState::kLoading;
    std::string reason;
    ModelPtr model;           // kReady, or held back: the catalog's own lease
    std::uint64_t lease = 0;  // of what is in memory: its number
  };
  struct Record {
    VersionState state = VersionState::kLoading;  // while there are no versions
    std::string reason;
    std::map<std::int64_t, Version> versions;
    bool forget = false;  // once no version is UNLOADING
  };
  struct Retired {
    std::string name;
    std::weak_ptr<core::Model> model;
  };

  static ModelView view_of(const Record& record);
  static bool any_in(const Record& record, VersionState state);

  std::shared_ptr<const Snapshot> take_snapshot(std::uint64_t& generation) const
      PROA_EXCLUDES(mutex_);
  void changed(std::string_view name) PROA_REQUIRES(mutex_);
  // Makes the versions of `record` retired ones. The caller lets go of the result without the lock:
  // what has no requests is destroyed by that.
  std::vector<ModelPtr> take_out(const std::string& name, Record& record, const std::string& reason,
                                 std::span<const std::int64_t> keep = {}) PROA_REQUIRES(mutex_);
  void forget_if_ended(std::string_view name) PROA_REQUIRES(mutex_);
  void lease_ended(const std::string& name, std::int64_t version, std::uint64_t number)
      PROA_EXCLUDES(mutex_);

  const std::uint64_t id_;  // of this catalog among all of the process
  std::atomic<std::uint64_t> generation_ = 1;

  mutable Mutex mutex_;
  CondVar drained_;
  std::map<std::string, Record, std::less<>> records_ PROA_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Retired> retired_ PROA_GUARDED_BY(mutex_);  // by lease
  bool closed_ PROA_GUARDED_BY(mutex_) = false;
  std::uint64_t next_lease_ PROA_GUARDED_BY(mutex_) = 1;
  // Brought up to date by the first reader after a change; `stale_` are the models that changed.
  mutable std::shared_ptr<const Snapshot> snapshot_ PROA_GUARDED_BY(mutex_);
  mutable std::set<std::string, std::less<>> stale_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::lifecycle
