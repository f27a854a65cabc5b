#include "lifecycle/model_repository.h"

#include <algorithm>
#include <span>

#include "base/log.h"
#include "base/text.h"
#include "fmt/ranges.h"

namespace proa::lifecycle {
namespace {

// A reason may have several lines; each is a line of the log.
void log_failure(const std::string& model, std::string_view reason) {
  for (const std::string_view line : split_lines(reason)) {
    log::error("model '{}': {}", log::printable(model), log::printable(line));
  }
}

// `error` for the eyes of clients, who are told of no folders outside the repositories.
Error without_roots(std::span<const std::filesystem::path> roots, Error error) {
  for (const std::filesystem::path& root : roots) {
    const std::string prefix = (root / "").native();
    for (std::size_t at = 0; (at = error.message.find(prefix, at)) != std::string::npos;) {
      error.message.erase(at, prefix.size());
    }
  }
  return error;
}

Error load_failed(const std::string& model, std::int64_t version, const Error& reason) {
  return Error{reason.code,
               fmt::format("load failed for model '{}': version {} is at UNAVAILABLE state: {}",
                           model, version, reason.message)};
}

}  // namespace

ModelRepository::ModelRepository(Options options)
    : options_(std::move(options)),
      loader_(options_.loader),
      catalog_(std::make_shared<Catalog>()),
      pool_("proa-load", std::max(1, options_.load_threads)) {}

ModelRepository::~ModelRepository() {
  {
    MutexLock lock(mutex_);
    shutting_down_ = true;
  }
  catalog_->close("the server has ended");
}

Status ModelRepository::start() {
  PROA_ASSIGN(const std::set<std::string> names, open_folders());
  for (const std::string& name : names) catalog_->begin_load(name);
  {
    MutexLock lock(mutex_);
    started_ = true;
    loading_ = names.size();
  }
  if (names.empty()) {
    std::vector<std::string> paths;
    for (const auto& folder : options_.folders) paths.push_back(folder.native());
    log::warn("no model in {}: a repository holds one folder a model, such as {}",
              log::printable(fmt::format("'{}'", fmt::join(paths, "', '"))),
              log::printable((options_.folders.front() / "NAME/1/model.onnx").native()));
    if (options_.on_loaded) options_.on_loaded({});
    loaded_.notify_all();
  }
  for (const std::string& name : names) {
    pool_.post([this, name] { first_load_ended(name, load(name).has_value()); });
  }
  return {};
}

Result<std::set<std::string>> ModelRepository::open_folders() {
  std::vector<storage::LocalFolder> folders;
  std::set<std::string> names;
  for (const std::filesystem::path& path : options_.folders) {
    auto folder = storage::LocalFolder::open(path);
    if (!folder) return with_context("model repository", std::move(folder.error()));
    PROA_ASSIGN(const std::vector<std::string> found, folder->list_models());
    names.insert(found.begin(), found.end());
    folders.push_back(*std::move(folder));
  }
  MutexLock lock(mutex_);
  folders_ = std::move(folders);
  return names;
}

Status ModelRepository::load(const std::string& name) {
  {
    MutexLock lock(mutex_);
    if (shutting_down_) return error::unavailable("the server is shutting down");
    ++under_way_;
  }
  catalog_->begin_load(name);
  Status status = try_load(name);
  {
    MutexLock lock(mutex_);
    --under_way_;
  }
  loaded_.notify_all();
  if (!status) {
    log_failure(name, status.error().message);
    status = without_roots(options_.folders, std::move(status.error()));
    catalog_->fail_load(name, status.error().message);
  }
  return status;
}

Status ModelRepository::try_load(const std::string& name) {
  PROA_ASSIGN(const storage::LocalFolder folder, folder_of(name));
  PROA_ASSIGN(const ModelPlan plan, loader_.plan(folder, name));
  for (const std::string& warning : plan.warnings) {
    log::warn("model '{}': {}", log::printable(name), log::printable(warning));
  }
  return load_versions(plan);
}

Status ModelRepository::load_versions(const ModelPlan& plan) {
  const std::string& name = plan.config.name;
  const Clock& clock = *options_.loader.model.clock;
  std::vector<Catalog::LoadedVersion> versions;
  Status status;
  for (const std::int64_t version : plan.versions) {
    const TimePoint begin = clock.now();
    auto model = loader_.load(plan, version);
    if (!model) {
      if (status) status = load_failed(name, version, model.error());
      versions.push_back({version, without_roots(options_.folders, std::move(model.error()))});
      continue;
    }
    versions.push_back({version, std::move(model)});
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - begin);
    log::info("model '{}' version {}: loaded in {} ms", name, version, took.count());
  }
  // A reload that fails in part changes nothing.
  if (!status && !ready_versions(name).empty()) return status;
  catalog_->replace(name, std::move(versions));
  return status;
}

Result<storage::LocalFolder> ModelRepository::folder_of(const std::string& name) const {
  std::vector<storage::LocalFolder> holders;
  {
    MutexLock lock(mutex_);
    holders = folders_;
  }
  std::erase_if(holders, [&](const storage::LocalFolder& folder) {
    const auto found = folder.find_model(name);
    return !found && found.error().code == ErrorCode::kNotFound;
  });
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

void ModelRepository::first_load_ended(const std::string& name, bool loaded) {
  LoadSummary summary;
  bool in_time = true;  // otherwise models count as failed that were never tried
  {
    MutexLock lock(mutex_);
    if (loaded) {
      ++summary_.ready;
    } else {
      summary_.failed.push_back(name);
    }
    if (--loading_ > 0) return;
    std::ranges::sort(summary_.failed);
    summary = summary_;
    in_time = !shutting_down_;
  }
  loaded_.notify_all();
  if (in_time && options_.on_loaded) options_.on_loaded(summary);
}

bool ModelRepository::ready() const {
  {
    MutexLock lock(mutex_);
    if (!started_ || shutting_down_ || loading_ > 0) return false;
  }
  if (!options_.strict_readiness) return true;
  const std::vector<std::shared_ptr<core::Model>> models = ready_models();
  if (!std::ranges::all_of(models, [](const auto& model) { return model->health().has_value(); })) {
    return false;
  }
  const std::vector<VersionStatus> lines = catalog_->index();
  return std::ranges::all_of(lines, [this](const VersionStatus& line) {
    return line.state == VersionState::kReady || !ready_versions(line.model).empty();
  });
}

Status ModelRepository::model_ready(std::string_view name, std::string_view version) const {
  const auto model = find(name, version);
  if (!model) return model.error();
  return (*model)->health();
}

std::vector<std::int64_t> ModelRepository::ready_versions(std::string_view name) const {
  std::vector<std::int64_t> numbers;
  const ModelView* view = catalog_->snapshot().find_view(name);
  if (view == nullptr) return numbers;
  for (const ModelView::Version& version : view->versions) {
    if (version.state == VersionState::kReady) numbers.push_back(version.number);
  }
  return numbers;
}

std::vector<std::shared_ptr<core::Model>> ModelRepository::ready_models() const {
  return catalog_->ready_models();
}

void ModelRepository::reload(const std::string& name, std::move_only_function<void(Status)> done) {
  pool_.post([this, name, done = std::move(done)]() mutable { done(load(name)); });
}

Status ModelRepository::unload(std::string_view name) {
  PROA_TRY(catalog_->retire(name, "unloaded"));
  std::vector<std::weak_ptr<core::Model>> draining;
  for (const auto& model : catalog_->retired(name)) draining.push_back(model);
  if (draining.empty()) return {};
  const core::Model::Options& model_options = options_.loader.model;
  model_options.timer->schedule(deadline_after(model_options.clock->now(), options_.unload_drain),
                                [draining = std::move(draining)] {
                                  for (const auto& weak : draining) {
                                    if (const auto model = weak.lock()) model->shut_down();
                                  }
                                });
  return {};
}

bool ModelRepository::wait_until_loaded(TimePoint deadline) {
  MutexLock lock(mutex_);
  while (!started_ || loading_ > 0) {
    if (steady_clock().now() >= deadline) return false;
    loaded_.wait_until(mutex_, deadline);
  }
  return true;
}

void ModelRepository::wait_for_loads() {
  MutexLock lock(mutex_);
  if (under_way_ == 0) return;
  const std::size_t count = under_way_;
  lock.unlock();
  log::info("waiting for {} model load(s) to end", count);
  lock.lock();
  while (under_way_ > 0) loaded_.wait(mutex_);
}

bool ModelRepository::shut_down(TimePoint deadline) {
  {
    MutexLock lock(mutex_);
    shutting_down_ = true;
  }
  catalog_->close("the server is shutting down");
  const bool drained = catalog_->wait_until_drained(deadline);
  for (const auto& model : catalog_->retired("")) model->shut_down();
  return drained;
}

}  // namespace proa::lifecycle
