#include "lifecycle/model_loader.h"

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "fmt/ranges.h"
#include "lifecycle/version_policy.h"
#include "lifecycle/warm_up_samples.h"
#include "storage/version_folders.h"

namespace proa::lifecycle {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLabelBytes = 64 << 20;

// That file of the model, or nothing when there is none.
Result<std::optional<config::ParsedConfig>> try_config(const storage::LocalFolder& repository,
                                                       const fs::path& folder,
                                                       const std::string& file) {
  const Result<fs::path> path = repository.find_inside(folder, file);
  if (!path && path.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!path) return path.error();
  PROA_ASSIGN(const std::string text, storage::read_file(*path, config::kMaxConfigBytes));
  PROA_ASSIGN(config::ParsedConfig parsed, config::parse_config(text, file));
  return parsed;
}

// The variant, else config.pbtxt, else a configuration that leaves everything open.
Result<config::ParsedConfig> read_config(const storage::LocalFolder& repository,
                                         const fs::path& folder, const std::string& variant) {
  if (!variant.empty()) {
    const std::string file = fmt::format("configs/{}.pbtxt", variant);
    PROA_ASSIGN(auto parsed, try_config(repository, folder, file));
    if (parsed) return *std::move(parsed);
  }
  PROA_ASSIGN(auto parsed, try_config(repository, folder, std::string(ModelLoader::kConfigFile)));
  if (parsed) return *std::move(parsed);
  return config::parse_config("", "no config.pbtxt");
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Error no_version(const fs::path& folder, std::span<const std::string> warnings) {
  if (is_number(folder.filename().native())) {
    const fs::path model = folder.parent_path();
    return error::invalid_argument(
        "'{}' looks like a version of a model and not like a model: serve the folder above '{}'",
        log::printable(folder.native()), log::printable(model.native()));
  }
  std::string more;
  for (const std::string& warning : warnings) more += "; " + warning;
  return error::invalid_argument(
      "'{}' holds no version: put the model's file into a sub-folder named by a number, for "
      "example "
      "'{}/1'{}",
      log::printable(folder.native()), log::printable(folder.filename().native()), more);
}

// The versions that the policy serves, with the reasons for those it does not find.
Result<std::vector<std::int64_t>> choose_versions(const fs::path& folder,
                                                  const config::VersionPolicy& policy,
                                                  std::vector<std::string>& warnings) {
  PROA_ASSIGN(storage::VersionFolders found, storage::list_versions(folder));
  if (found.versions.empty()) return no_version(folder, found.warnings);
  std::ranges::move(found.warnings, std::back_inserter(warnings));
  SelectedVersions selected = select_versions(policy, found.versions);
  for (const std::int64_t missing : selected.missing) {
    warnings.push_back(
        fmt::format("version_policy asks for version {}, which is not there", missing));
  }
  if (selected.versions.empty()) {
    return error::invalid_argument(
        "version_policy.specific: none of the versions {} is there; there are {}",
        fmt::join(selected.missing, ", "), fmt::join(found.versions, ", "));
  }
  return std::move(selected.versions);
}

Result<std::vector<std::vector<std::string>>> read_labels(const storage::LocalFolder& repository,
                                                          const fs::path& folder,
                                                          const config::ModelConfig& config) {
  std::vector<std::vector<std::string>> labels(config.outputs.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (config.outputs[i].label_filename.empty()) continue;
    const std::string where = fmt::format("label_filename of output '{}'", config.outputs[i].name);
    const auto path = repository.find_inside(folder, config.outputs[i].label_filename);
    if (!path) return with_context(where, path.error());
    const auto text = storage::read_file(*path, kMaxLabelBytes);
    if (!text) return with_context(where, text.error());
    for (const std::string_view line : split_lines(*text)) labels[i].emplace_back(line);
  }
  return labels;
}

core::ModelFiles files_of(const fs::path& folder, std::int64_t version) {
  return {folder, folder / std::to_string(version), version};
}

// Nothing that the backend will read may lie outside of the repository.
Status check_version_folder(const storage::LocalFolder& repository,
                            const fs::path& version_folder) {
  PROA_TRY(
      repository.find_inside(version_folder.parent_path(), version_folder.filename().native()));
  return repository.check_links(version_folder);
}

// That the model file exists is for the backend to say, which knows whether it needs one.
Status check_model_file(const storage::LocalFolder& repository, const fs::path& version_folder,
                        const std::string& file) {
  if (file.empty()) return {};
  const auto found = repository.find_inside(version_folder, file);
  if (!found && found.error().code == ErrorCode::kNotFound) return {};
  if (!found) return with_context("default_model_filename", found.error());
  std::error_code failed;
  // A folder that a link leads to was not looked into with the version's.
  return fs::is_directory(*found, failed) ? repository.check_links(*found) : Status();
}

}  // namespace

Result<ModelDraft> ModelLoader::read(const storage::LocalFolder& repository, std::string_view name,
                                     const std::string* config_json) const {
  ModelDraft draft;
  PROA_ASSIGN(draft.folder, repository.find_model(name));
  PROA_ASSIGN(draft.parsed,
              config_json != nullptr
                  ? config::parse_config_json(*config_json, "config of the load request")
                  : read_config(repository, draft.folder, options_.config_name));
  PROA_ASSIGN(draft.versions, choose_versions(draft.folder, draft.parsed.config.version_policy,
                                              draft.parsed.warnings));
  return draft;
}

Result<ModelPlan> ModelLoader::complete(const storage::LocalFolder& repository,
                                        ModelDraft draft) const {
  config::ParsedConfig& parsed = draft.parsed;
  for (const std::int64_t version : draft.versions) {
    PROA_TRY(check_version_folder(repository, files_of(draft.folder, version).version_folder));
  }
  // The newest version stands for all of them.
  const core::ModelFiles files = files_of(draft.folder, draft.versions.back());
  PROA_ASSIGN(const std::vector<std::string> names, storage::list_names(files.version_folder));
  PROA_TRY(config::complete_from_folder(draft.folder.filename().native(), names,
                                        options_.completion, parsed));
  PROA_TRY(
      check_model_file(repository, files.version_folder, parsed.config.default_model_filename));
  ModelPlan plan;
  if (!parsed.config.backend.empty()) {
    PROA_ASSIGN(plan.backend, options_.backends(parsed.config.backend));
    if (options_.completion.enabled) {
      PROA_TRY(plan.backend->complete_config(
          files, config::max_batch_size_decided(options_.completion, parsed), parsed.config));
    }
  }
  PROA_TRY(config::complete_rest(options_.completion, parsed));
  PROA_ASSIGN(plan.labels, read_labels(repository, draft.folder, parsed.config));
  PROA_ASSIGN(plan.warm_up, make_warm_up_samples(repository, draft.folder, parsed.config));
  plan.config = std::move(parsed.config);
  plan.warnings = std::move(parsed.warnings);
  plan.folder = std::move(draft.folder);
  plan.versions = std::move(draft.versions);
  return plan;
}

Result<ModelPlan> ModelLoader::plan(const storage::LocalFolder& repository,
                                    std::string_view name) const {
  PROA_ASSIGN(ModelDraft draft, read(repository, name));
  return complete(repository, std::move(draft));
}

Result<std::shared_ptr<core::Model>> ModelLoader::load(const ModelPlan& plan,
                                                       std::int64_t version) const {
  if (plan.config.ensemble) return load_ensemble(plan, version);
  const TimePoint began = options_.model.clock->now();
  PROA_ASSIGN(std::unique_ptr<core::LoadedModel> loaded,
              plan.backend->load(files_of(plan.folder, version), plan.config));
  core::Model::Options options = options_.model;
  options.labels = plan.labels;
  options.warm_up = plan.warm_up;
  options.load_began = began;
  options.keep_alive = plan.keep_alive;
  return core::Model::create(plan.config, version, std::move(loaded), options);
}

Result<std::shared_ptr<core::Model>> ModelLoader::load_ensemble(const ModelPlan& plan,
                                                                std::int64_t version) const {
  core::Model::Options options = options_.model;
  options.labels = plan.labels;
  options.load_began = options_.model.clock->now();
  options.keep_alive = plan.keep_alive;
  config::ModelConfig config = plan.config;
  for (const config::Ensemble::Step& step : config.ensemble->steps) {
    const std::string wanted =
        step.version == config::Ensemble::kLatest ? "" : std::to_string(step.version);
    // As in Triton, an ensemble answers as often as its steps do. What is not there is told later.
    const auto model = options.find_model(step.model, wanted);
    if (model) config.decoupled |= (*model)->config().decoupled;
  }
  return core::Model::create_ensemble(std::move(config), version, std::move(options));
}

}  // namespace proa::lifecycle
