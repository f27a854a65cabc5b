#include "lifecycle/model_repository.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/thread.h"
#include "fmt/ranges.h"
#include "storage/model_name.h"

namespace proa::lifecycle {
namespace {

void warn_of_nothing(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> paths;
  for (const auto& folder : folders) paths.push_back(folder.native());
  log::warn("no model in {}: a repository holds one folder a model, such as {}",
            log::printable(fmt::format("'{}'", fmt::join(paths, "', '"))),
            log::printable((folders.front() / "NAME/1/model.onnx").native()));
}

// Once, at the start: later looks pass over them silently.
void warn_of_unusable_names(const std::filesystem::path& folder) {
  const auto names = storage::list_names(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    std::error_code failed;
    const Status usable = storage::check_model_name(name);
    if (usable || !std::filesystem::is_directory(folder / name, failed)) continue;
    log::warn("model repository '{}': a folder is passed over: {}", log::printable(folder.native()),
              usable.error().message);
  }
}

bool is_nowhere(std::span<const storage::LocalFolder> repositories, const std::string& name) {
  return std::ranges::all_of(repositories, [&](const storage::LocalFolder& repository) {
    const auto found = repository.find_model(name);
    return !found && found.error().code == ErrorCode::kNotFound;
  });
}

// The catalog holds the models that find each other in it.
ModelLoader::Options with_finder(ModelLoader::Options options,
                                 const std::shared_ptr<Catalog>& catalog) {
  options.model.find_model = [weak = std::weak_ptr(catalog)](
                                 std::string_view name,
                                 std::string_view version) -> Result<Catalog::ModelPtr> {
    if (const auto strong = weak.lock()) return strong->find(name, version);
    return error::unavailable("the server has ended");
  };
  return options;
}

}  // namespace

ModelRepository::ModelRepository(Options options)
    : options_(std::move(options)),
      catalog_(std::make_shared<Catalog>()),
      updater_(
          {.roots = options_.folders,
           .retries = options_.load_retries,
           .steps_settled =
               [this](const std::string& name, const config::Ensemble* ensemble,
                      bool from_request) { return steps_settled(name, ensemble, from_request); }},
          ModelLoader(with_finder(options_.loader, catalog_)), catalog_),
      jobs_("proa-load", std::max(1, options_.load_threads)),
      listing_("proa-list", 1) {}

ModelRepository::~ModelRepository() {
  stop_polling();
  catalog_->close("the server has ended");
}

Status ModelRepository::start() {
  PROA_ASSIGN(const std::set<std::string> found, open_folders());
  const std::set<std::string> names = names_to_load(found);
  for (const std::string& name : names) PROA_TRY(storage::check_model_name(name));
  for (const std::string& name : names) {
    // Nothing stands in the index of a model that is nowhere.
    if (found.contains(name)) catalog_->begin_load(name);
  }
  {
    MutexLock lock(mutex_);
    started_ = true;
    loading_ = names.size();
    std::ranges::set_difference(names, found, std::inserter(missing_, missing_.end()));
  }
  if (names.empty()) {
    if (found.empty()) warn_of_nothing(options_.folders);
    if (options_.on_loaded) options_.on_loaded({});
    changed_.notify_all();
  }
  // All are pending before one begins: an ensemble waits for its steps.
  std::vector<StepLoads::JobPtr> jobs;
  {
    MutexLock lock(mutex_);
    asked_for_.insert(names.begin(), names.end());
    for (const std::string& name : names) {
      LoadJob& job = *jobs.emplace_back(make_job_locked(name, {}, nullptr));
      job.done = [this, &job](const Status& status) { first_load_ended(job, status.has_value()); };
    }
  }
  for (auto& job : jobs) post(std::move(job));
  if (options_.mode == ControlMode::kPoll) {
    poller_ = start_thread("proa-poll", [this] { poll(); });
  }
  return {};
}

std::set<std::string> ModelRepository::names_to_load(const std::set<std::string>& found) const {
  const std::vector<std::string>& wanted = options_.startup_models;
  if (options_.mode != ControlMode::kExplicit) return found;
  if (std::ranges::find(wanted, kEveryModel) != wanted.end()) return found;
  return {wanted.begin(), wanted.end()};
}

Result<std::set<std::string>> ModelRepository::open_folders() {
  std::vector<storage::LocalFolder> folders;
  std::set<std::string> names;
  for (const std::filesystem::path& path : options_.folders) {
    auto folder = storage::LocalFolder::open(path);
    if (!folder) return with_context("model repository", std::move(folder.error()));
    PROA_ASSIGN(const std::vector<std::string> found, folder->list_models());
    warn_of_unusable_names(path);
    names.insert(found.begin(), found.end());
    folders.push_back(*std::move(folder));
  }
  MutexLock lock(mutex_);
  folders_ = std::move(folders);
  return names;
}

std::vector<storage::LocalFolder> ModelRepository::folders() const {
  MutexLock lock(mutex_);
  return folders_;
}

StepLoads::JobPtr ModelRepository::make_job_locked(const std::string& name, LoadRequest request,
                                                   std::move_only_function<void(Status)> done) {
  step_loads_.begin(name);
  return std::make_shared<LoadJob>(name, std::move(request), std::move(done));
}

void ModelRepository::post(StepLoads::JobPtr job) {
  const std::string name = job->name;
  jobs_.post(name, [this, job] { run_load(job); }, [job] { job->done(std::move(job->status)); });
}

void ModelRepository::run_load(const StepLoads::JobPtr& job) {
  job->status = load_now(*job);
  if (job->waits) return park(job);
  std::vector<Follower> followers;
  {
    MutexLock lock(mutex_);
    step_loads_.end(job->name);
    followers = followers_locked(job->name);
  }
  tell(followers, job->name, job->status.has_value());
  resume_parked();
}

Status ModelRepository::load_now(LoadJob& job) {
  const std::string& name = job.name;
  const bool has_waited = std::exchange(job.waits, false);
  {
    MutexLock lock(mutex_);
    if (shutting_down_) return error::unavailable("the server is shutting down");
    if (has_waited && step_loads_.unload_pending(name)) {
      job.given_up = true;
      return error::unavailable("model '{}' was unloaded before its steps were ready",
                                log::printable(name));
    }
    ++under_way_;
  }
  const std::vector<storage::LocalFolder> from = folders();
  const auto loaded = updater_.load(from, name, job.request);
  job.waits = loaded && *loaded == ModelUpdater::LoadEnd::kWaitsForSteps;
  const Status status = loaded ? Status() : Status(loaded.error());
  const bool nowhere = !status && !catalog_->has_ready(name) && is_nowhere(from, name);
  const bool went =
      options_.mode == ControlMode::kPoll && nowhere && status.error().code == ErrorCode::kNotFound;
  if (went || (nowhere && !job.request.files.empty())) {
    // Otherwise clients could fill the index with names that nothing can ever be loaded from, and a
    // folder that went before its first load would stay in it.
    (void)updater_.unload(name, Catalog::Afterwards::kForget);
  }
  const bool forgotten = nowhere && !catalog_->has_loaded(name);
  {
    MutexLock lock(mutex_);
    --under_way_;
    if (nowhere) asked_for_.erase(name);
    if (forgotten) step_loads_.forget(name);
    if (!status) {
      if (status.error().code != ErrorCode::kNotFound) ++counts_.failed;
    } else if (!job.waits) {
      missing_.erase(name);
      step_loads_.loaded(name);
      ++counts_.succeeded;
    }
  }
  changed_.notify_all();
  return status;
}

LoadCounts ModelRepository::load_counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

void ModelRepository::unload_now(const std::string& name, Catalog::Afterwards afterwards) {
  {
    MutexLock lock(mutex_);
    missing_.erase(name);
    step_loads_.forget(name);
    step_loads_.end_unload(name);
    --requests_;
  }
  if (!updater_.unload(name, afterwards)) {
    log::info("model '{}' is to be unloaded and was not loaded", log::printable(name));
    return;
  }
  log::info("model '{}': unloaded", log::printable(name));
  tell_ensembles(name);
  std::vector<std::weak_ptr<core::Model>> draining;
  for (const auto& model : catalog_->retired(name)) draining.push_back(model);
  if (draining.empty()) return;
  const core::Model::Options& model_options = options_.loader.model;
  model_options.timer->schedule(deadline_after(model_options.clock->now(), options_.unload_drain),
                                [draining = std::move(draining)] {
                                  for (const auto& weak : draining) {
                                    if (const auto model = weak.lock()) model->shut_down();
                                  }
                                });
}

void ModelRepository::first_load_ended(const LoadJob& job, bool loaded) {
  LoadSummary summary;
  bool in_time = true;  // otherwise models count as failed that were never tried
  {
    MutexLock lock(mutex_);
    if (loaded) {
      ++summary_.ready;
    } else if (!job.given_up) {
      summary_.failed.push_back(job.name);
    }
    if (--loading_ > 0) return;
    std::ranges::sort(summary_.failed);
    summary = summary_;
    in_time = !shutting_down_;
  }
  changed_.notify_all();
  if (in_time && options_.on_loaded) options_.on_loaded(summary);
}

bool ModelRepository::ready() const {
  {
    MutexLock lock(mutex_);
    if (!started_ || shutting_down_ || loading_ > 0) return false;
    if (options_.strict_readiness && !missing_.empty()) return false;
  }
  if (!options_.strict_readiness) return true;
  const std::vector<std::shared_ptr<core::Model>> models = ready_models();
  if (!std::ranges::all_of(models, [](const auto& model) { return model->health().has_value(); })) {
    return false;
  }
  const std::vector<VersionStatus> lines = catalog_->index();
  return std::ranges::all_of(lines, [this](const VersionStatus& line) {
    return line.state == VersionState::kReady || line.reason == kUnloaded ||
           catalog_->has_ready(line.model);
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

bool ModelRepository::wait_until_loaded(TimePoint deadline) {
  MutexLock lock(mutex_);
  while (!started_ || loading_ > 0) {
    if (steady_clock().now() >= deadline) return false;
    changed_.wait_until(mutex_, deadline);
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
  while (under_way_ > 0) changed_.wait(mutex_);
}

bool ModelRepository::shut_down(TimePoint deadline) {
  stop_polling();
  catalog_->close("the server is shutting down");
  const bool drained = catalog_->wait_until_drained(deadline);
  for (const auto& model : catalog_->retired("")) model->shut_down();
  return drained;
}

}  // namespace proa::lifecycle
