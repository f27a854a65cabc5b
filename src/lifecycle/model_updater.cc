#include "lifecycle/model_updater.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "config/proto_writer.h"
#include "fmt/ranges.h"
#include "storage/model_name.h"
#include "storage/private_folder.h"

namespace proa::lifecycle {
namespace {

namespace fs = std::filesystem;

// A reason may have several lines; each is a line of the log.
void log_failure(std::string_view model, std::string_view reason) {
  for (const std::string_view line : split_lines(reason)) {
    log::error("model '{}': {}", log::printable(model), log::printable(line));
  }
}

// The one repository that holds the model.
Result<storage::LocalFolder> find_holder(std::span<const storage::LocalFolder> repositories,
                                         const std::string& name) {
  std::vector<storage::LocalFolder> holders;
  for (const storage::LocalFolder& repository : repositories) {
    const auto found = repository.find_model(name);
    if (found || found.error().code != ErrorCode::kNotFound) holders.push_back(repository);
  }
  if (holders.empty()) {
    return error::not_found("there is no folder '{}' in the model repository",
                            log::printable(name));
  }
  if (holders.size() > 1) {
    return error::invalid_argument("{} model repositories hold a model '{}': rename all but one",
                                   holders.size(), log::printable(name));
  }
  return holders.front();
}

// What decides whether a loaded version can go on; which versions are served does not.
std::string comparable(config::ModelConfig config) {
  config.version_policy = {};
  return config::to_text(config);
}

// The configuration is compared by what it says.
storage::FileStamps without_configs(storage::FileStamps stamps) {
  std::erase_if(stamps, [](const storage::FileStamp& stamp) {
    return stamp.path == ModelLoader::kConfigFile || stamp.path.starts_with("configs/");
  });
  return stamps;
}

// Files of a request as a repository of their own.
Result<storage::LocalFolder> write_files(const std::string& name, const LoadRequest& request,
                                         std::shared_ptr<const void>& keep_alive) {
  PROA_ASSIGN(const auto folder, storage::PrivateFolder::create());
  for (const LoadRequest::File& file : request.files) {
    Status written = storage::check_relative_path(file.path);
    if (written) written = folder->write(name + "/" + file.path, file.content);
    if (!written) return with_context("file:" + file.path, written.error());
  }
  keep_alive = folder;
  return storage::LocalFolder::open(folder->path());
}

std::string failure_of(std::span<const Catalog::FailedVersion> versions) {
  std::string text;
  for (const Catalog::FailedVersion& one : versions) {
    if (!text.empty()) text += ' ';
    text += fmt::format("version {} is at UNAVAILABLE state: {};", one.version, one.reason);
  }
  return text;
}

}  // namespace

Result<ModelUpdater::LoadEnd> ModelUpdater::load(std::span<const storage::LocalFolder> repositories,
                                                 const std::string& name,
                                                 const LoadRequest& request) {
  const Status named = storage::check_model_name(name);
  if (!named) return fail(name, named.error());
  std::shared_ptr<const void> keep_alive;
  std::vector<storage::LocalFolder> from(repositories.begin(), repositories.end());
  if (!request.files.empty()) {
    auto own = write_files(name, request, keep_alive);
    if (!own) return fail(name, own.error());
    from = {*std::move(own)};
  }
  auto look = look_at(from, name);
  if (!look) return fail(name, look.error());
  if (!request.config_json && nothing_changed(name, *look)) return LoadEnd::kLoaded;
  catalog_->begin_load(name);
  begin(name, request.config_json ? std::nullopt : std::optional(*look));
  const auto holder = find_holder(from, name);
  if (!holder) return fail(name, holder.error());
  auto draft = loader_.read(*holder, name, request.config_json ? &*request.config_json : nullptr);
  if (!draft) return fail(name, draft.error(), holder->root());
  const auto& ensemble = draft->parsed.config.ensemble;
  const auto settled = options_.steps_settled(name, ensemble ? &*ensemble : nullptr,
                                              request.config_json.has_value());
  if (!settled) return fail(name, settled.error());
  if (!*settled) return LoadEnd::kWaitsForSteps;
  const std::int64_t newest = draft->versions.back();
  auto plan = loader_.complete(*holder, *std::move(draft));
  if (!plan) return fail(name, {failed_version(name, newest, plan.error(), holder->root())});
  plan->keep_alive = std::move(keep_alive);
  for (const std::string& warning : plan->warnings) {
    log::warn("model '{}': {}", log::printable(name), log::printable(warning));
  }
  PROA_TRY(load_versions(*plan, *look));
  return LoadEnd::kLoaded;
}

Status ModelUpdater::load_versions(const ModelPlan& plan, const ModelLook& look) {
  const std::string& name = plan.config.name;
  const Served now{comparable(plan.config), without_configs(look.shared), look.versions};
  const std::vector<std::int64_t> keep = unchanged(plan, now);
  std::vector<Catalog::LoadedVersion> loaded;
  std::vector<Catalog::FailedVersion> failed;
  for (const std::int64_t version : plan.versions) {
    if (std::ranges::find(keep, version) != keep.end()) continue;
    auto model = load_version(plan, version);
    if (!model) {
      failed.push_back(failed_version(name, version, model.error(), plan.folder.parent_path()));
      model.error().message = failed.back().reason;
    }
    loaded.push_back({version, std::move(model)});
  }
  if (failed.empty() || !catalog_->has_ready(name)) {
    catalog_->replace(name, std::move(loaded), keep);
    remember(plan, now, failed);
  }
  if (failed.empty()) return {};
  return fail(name, failed);
}

Result<std::shared_ptr<core::Model>> ModelUpdater::load_version(const ModelPlan& plan,
                                                                std::int64_t version) const {
  const std::string name = log::printable(plan.config.name);
  for (int attempt = 0;; ++attempt) {
    auto model = loader_.load(plan, version);
    if (model) {
      const auto took =
          std::chrono::duration_cast<std::chrono::milliseconds>((*model)->load_time());
      log::info("model '{}' version {}: loaded in {} ms", name, version, took.count());
      return model;
    }
    if (attempt >= options_.retries) return model;
    log::warn("model '{}' version {}: {}; retry {} of {}", name, version,
              log::printable(model.error().message), attempt + 1, options_.retries);
  }
}

std::vector<std::int64_t> ModelUpdater::unchanged(const ModelPlan& plan, const Served& now) const {
  std::vector<std::int64_t> keep;
  MutexLock lock(mutex_);
  const auto history = histories_.find(plan.config.name);
  if (history == histories_.end()) return keep;
  const Served& before = history->second.served;
  if (before.config != now.config || before.shared != now.shared) return keep;
  for (const std::int64_t version : plan.versions) {
    const auto then = before.versions.find(version);
    const auto files = now.versions.find(version);
    if (then != before.versions.end() && files != now.versions.end() &&
        then->second == files->second && catalog_->is_ready(plan.config.name, version)) {
      keep.push_back(version);
    }
  }
  return keep;
}

void ModelUpdater::remember(const ModelPlan& plan, Served now,
                            std::span<const Catalog::FailedVersion> failed) {
  std::erase_if(now.versions, [&](const auto& item) {
    return std::ranges::find(plan.versions, item.first) == plan.versions.end() ||
           std::ranges::find(failed, item.first, &Catalog::FailedVersion::version) != failed.end();
  });
  MutexLock lock(mutex_);
  History& history = histories_[plan.config.name];
  history.served = std::move(now);
  history.succeeded = failed.empty();
}

bool ModelUpdater::nothing_changed(const std::string& name, const ModelLook& look) const {
  if (!catalog_->has_ready(name)) return false;  // an ensemble that is held back
  MutexLock lock(mutex_);
  const auto history = histories_.find(name);
  return history != histories_.end() && history->second.succeeded && history->second.tried == look;
}

void ModelUpdater::begin(const std::string& name, std::optional<ModelLook> look) {
  MutexLock lock(mutex_);
  History& history = histories_[name];
  history.tried = std::move(look);
  history.succeeded = false;
}

Catalog::FailedVersion ModelUpdater::failed_version(const std::string& name, std::int64_t version,
                                                    const Error& reason,
                                                    const fs::path& root) const {
  log_failure(name, fmt::format("version {}: {}", version, reason.message));
  return {version, for_clients(reason.message, root)};
}

Error ModelUpdater::fail(const std::string& name,
                         const std::vector<Catalog::FailedVersion>& failed) const {
  const std::string failure = failure_of(failed);
  catalog_->fail_load(name, failure, failed);
  if (catalog_->has_ready(name)) log::warn("model '{}': serves on", log::printable(name));
  return error::invalid_argument("load failed for model '{}': {}", log::printable(name), failure);
}

Error ModelUpdater::fail(const std::string& name, const Error& reason, const fs::path& root) const {
  log_failure(name, reason.message);
  const std::string message = for_clients(reason.message, root);
  catalog_->fail_load(name, message);
  return Error{reason.code,
               fmt::format("failed to load '{}', failed to poll from model repository: {}",
                           log::printable(name), message)};
}

std::string ModelUpdater::for_clients(std::string message, const fs::path& root) const {
  std::vector<fs::path> hidden = options_.roots;
  if (!root.empty()) hidden.push_back(root);
  for (const fs::path& path : hidden) {
    const std::string prefix = (path / "").native();
    for (std::size_t at = 0; (at = message.find(prefix, at)) != std::string::npos;) {
      message.erase(at, prefix.size());
    }
  }
  return message;
}

Status ModelUpdater::unload(std::string_view name, Catalog::Afterwards afterwards) {
  {
    MutexLock lock(mutex_);
    if (const auto history = histories_.find(name); history != histories_.end()) {
      histories_.erase(history);
    }
  }
  return catalog_->retire(name, std::string(kUnloaded), afterwards);
}

bool ModelUpdater::last_failed(const std::string& name) const {
  MutexLock lock(mutex_);
  const auto history = histories_.find(name);
  return history != histories_.end() && history->second.tried && !history->second.succeeded;
}

std::map<std::string, ModelLook> ModelUpdater::tried() const {
  std::map<std::string, ModelLook> looks;
  MutexLock lock(mutex_);
  for (const auto& [name, history] : histories_) {
    if (history.tried) looks.emplace(name, *history.tried);
  }
  return looks;
}

}  // namespace proa::lifecycle
