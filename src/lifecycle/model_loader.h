#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/complete.h"
#include "core/backend.h"
#include "core/model.h"
#include "storage/local_folder.h"

namespace proa::lifecycle {

// The backend of that name; lives as long as the process. Errors: kNotFound naming those there are.
using BackendFinder = std::function<Result<core::Backend*>(std::string_view)>;

// What a model's folder states: its configuration as it was written, and the versions to serve.
struct ModelDraft {
  config::ParsedConfig parsed;
  std::filesystem::path folder;
  std::vector<std::int64_t> versions;  // ascending, at least one
};

// A model's configuration, complete and checked, and the versions to load with it.
struct ModelPlan {
  config::ModelConfig config;
  core::Backend* backend = nullptr;  // null for an ensemble
  std::filesystem::path folder;
  std::vector<std::int64_t> versions;            // ascending, at least one
  std::vector<std::vector<std::string>> labels;  // by output
  std::vector<core::WarmUpSample> warm_up;
  std::vector<std::string> warnings;       // one sentence each
  std::shared_ptr<const void> keep_alive;  // held by the models that are loaded with it
};

// Turns a folder into models, one step after the other: read and complete the configuration, ask
// the backend, load a version. Keeps nothing.
// Threading: thread-safe; its methods read files and block, for seconds in the case of large
// models.
class ModelLoader {
 public:
  static constexpr std::string_view kConfigFile = "config.pbtxt";

  struct Options {
    BackendFinder backends;
    core::Model::Options model;  // its labels are the loader's to set; find_model: for ensembles
    config::CompletionOptions completion;
    // configs/NAME.pbtxt is read where it exists, instead of config.pbtxt; "" = never.
    std::string config_name;
  };

  explicit ModelLoader(Options options) : options_(std::move(options)) {}

  // Errors name the file and what to change: no such folder, no version, a configuration that
  // cannot be read. `config_json`, unless null, is the configuration instead of the file.
  Result<ModelDraft> read(const storage::LocalFolder& repository, std::string_view name,
                          const std::string* config_json = nullptr) const;
  // Completes and checks the configuration, with the model file of the newest version. Errors: a
  // bad configuration, an unknown backend, a model file that the backend cannot read, a label or
  // warm-up file that is missing, too large or outside of the repository.
  Result<ModelPlan> complete(const storage::LocalFolder& repository, ModelDraft draft) const;
  // Both.
  Result<ModelPlan> plan(const storage::LocalFolder& repository, std::string_view name) const;

  // Errors: the backend's; of an ensemble, that a step is not ready or does not fit.
  Result<std::shared_ptr<core::Model>> load(const ModelPlan& plan, std::int64_t version) const;

 private:
  Result<std::shared_ptr<core::Model>> load_ensemble(const ModelPlan& plan,
                                                     std::int64_t version) const;

  const Options options_;
};

}  // namespace proa::lifecycle
