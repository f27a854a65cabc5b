#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "lifecycle/catalog.h"
#include "lifecycle/load_request.h"
#include "lifecycle/model_loader.h"
#include "lifecycle/model_look.h"

namespace proa::lifecycle {

// Brings the versions of one model in the catalog to what its folder, or a client's request, says:
// loads what is new or has changed, keeps what has not, swaps everything in one step, and tells log
// and catalog when it fails.
//
// A version is kept in place when its own files, the files that all versions share and the
// configuration (apart from version_policy) are those that it was loaded from. When the model's
// files have not changed at all since its last, successful load, nothing is done.
//
// Threading: thread-safe, but for one model one call at a time. Calls block.
class ModelUpdater {
 public:
  struct Options {
    std::vector<std::filesystem::path> roots;  // of the repositories; clients are not told of them
    int retries = 0;                           // of a version that fails to load
    // Is told of every configuration that is to be loaded (null: no ensemble; whether it came with
    // the request). False: the load is to come again when the loads of its steps have ended.
    std::function<Result<bool>(const std::string& name, const config::Ensemble* ensemble,
                               bool from_request)>
        steps_settled = [](const auto&, const auto*, bool) { return true; };
  };
  enum class LoadEnd : std::uint8_t { kLoaded, kWaitsForSteps };

  ModelUpdater(Options options, ModelLoader loader, std::shared_ptr<Catalog> catalog)
      : options_(std::move(options)), loader_(std::move(loader)), catalog_(std::move(catalog)) {}

  // Errors, in Triton's words where it has any: kNotFound, kInvalidArgument, ... A failed load
  // leaves all versions that are ready.
  Result<LoadEnd> load(std::span<const storage::LocalFolder> repositories, const std::string& name,
                       const LoadRequest& request) PROA_EXCLUDES(mutex_);

  // Takes the model out of the catalog, with the reason kUnloaded. Errors: kNotFound when it is not
  // there.
  Status unload(std::string_view name, Catalog::Afterwards afterwards) PROA_EXCLUDES(mutex_);

  // The models that were loaded or tried and not unloaded, with the files that began from; those
  // that came with a request are not among them.
  std::map<std::string, ModelLook> tried() const PROA_EXCLUDES(mutex_);

  // Whether the last load of the model's files failed; what was loaded before may be ready.
  bool last_failed(const std::string& name) const PROA_EXCLUDES(mutex_);

 private:
  // What the ready versions of a model were loaded from.
  struct Served {
    std::string config;  // serialised, without version_policy
    storage::FileStamps shared;
    std::map<std::int64_t, storage::FileStamps> versions;
  };
  struct History {
    std::optional<ModelLook> tried;  // what the last load began from; none = a request
    bool succeeded = false;
    Served served;
  };

  Status load_versions(const ModelPlan& plan, const ModelLook& look) PROA_EXCLUDES(mutex_);
  Result<std::shared_ptr<core::Model>> load_version(const ModelPlan& plan,
                                                    std::int64_t version) const;
  // The versions of the plan that may stay as they are.
  std::vector<std::int64_t> unchanged(const ModelPlan& plan, const Served& now) const
      PROA_EXCLUDES(mutex_);
  bool nothing_changed(const std::string& name, const ModelLook& look) const PROA_EXCLUDES(mutex_);
  void begin(const std::string& name, std::optional<ModelLook> look) PROA_EXCLUDES(mutex_);
  void remember(const ModelPlan& plan, Served now, std::span<const Catalog::FailedVersion> failed)
      PROA_EXCLUDES(mutex_);
  // Logs it.
  Catalog::FailedVersion failed_version(const std::string& name, std::int64_t version,
                                        const Error& reason,
                                        const std::filesystem::path& root) const;
  // Tells the catalog, and makes of it what the client gets: of versions that could not be loaded,
  // or of a model that cannot even be read, which is logged too.
  Error fail(const std::string& name, const std::vector<Catalog::FailedVersion>& failed) const;
  Error fail(const std::string& name, const Error& reason,
             const std::filesystem::path& root = {}) const;
  // Without the paths of the repositories and of `root`, the folder that holds the model's.
  std::string for_clients(std::string message, const std::filesystem::path& root) const;

  const Options options_;
  const ModelLoader loader_;
  const std::shared_ptr<Catalog> catalog_;

  mutable Mutex mutex_;
  std::map<std::string, History, std::less<>> histories_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::lifecycle
