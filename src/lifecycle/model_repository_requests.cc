#include <algorithm>
#include <utility>

#include "base/log.h"
#include "lifecycle/model_repository.h"
#include "storage/model_name.h"

namespace proa::lifecycle {

// What clients ask for: how much of it may wait, and in which order it comes.

Status ModelRepository::check_room_locked(const std::string& name, std::size_t more) const {
  const std::size_t own = step_loads_.waiting(name);
  if (requests_ < kMostRequests + more && own < kMostRequestsOfOne + more) return {};
  return error::unavailable(
      "model '{}': {} requests to load or unload models have not ended, {} of them for this one, "
      "and no more may wait; ask again when some have",
      log::printable(name), requests_, own);
}

void ModelRepository::load(const std::string& name, LoadRequest request,
                           std::move_only_function<void(Status)> done) {
  const Status usable = storage::check_model_name(name);
  const bool by_model = request.by_model;
  StepLoads::JobPtr job;
  MutexLock lock(mutex_);
  Status may_wait = check_room_locked(name, 0);
  if (shutting_down_) may_wait = error::unavailable("the server is shutting down");
  if (!may_wait) {
    lock.unlock();
    return done(std::move(may_wait));
  }
  ++requests_;
  if (usable) asked_for_.insert(name);  // nothing is kept of a name that no model can have
  job = make_job_locked(name, std::move(request),
                        [this, by_model, done = std::move(done)](Status status) mutable {
                          if (by_model) jobs_.allow(-1);
                          end_request();
                          done(std::move(status));
                        });
  lock.unlock();
  if (by_model) jobs_.allow(1);
  post(std::move(job));
}

void ModelRepository::end_request() {
  MutexLock lock(mutex_);
  --requests_;
}

Status ModelRepository::unload(const std::string& name, bool with_steps) {
  {
    MutexLock lock(mutex_);
    PROA_TRY(check_room_locked(name, kMoreUnloads));
  }
  take_down(name, with_steps);
  return {};
}

void ModelRepository::take_down(const std::string& name, bool with_steps) {
  std::vector<std::string> steps;
  if (with_steps) steps = steps_to_unload(name);
  post_unload(name, Catalog::Afterwards::kRemember);
  for (const std::string& step : steps) take_down(step, true);
}

void ModelRepository::post_unload(const std::string& name, Catalog::Afterwards afterwards) {
  {
    MutexLock lock(mutex_);
    ++requests_;
    asked_for_.erase(name);  // now: the last one asked decides, also where it waits
    step_loads_.begin_unload(name);
  }
  resume_parked();
  jobs_.run_or_post(name, [this, name, afterwards] { unload_now(name, afterwards); });
}

void ModelRepository::list(OnIndex done) {
  if (options_.mode != ControlMode::kExplicit) return done(index());
  MutexLock lock(mutex_);
  const bool full = listings_ == kMostListings;
  if (!full) ++listings_;
  lock.unlock();
  if (full) {
    return done(error::unavailable(
        "{} requests for the repository's index wait for its disk, and no more may; ask again when "
        "some have ended",
        kMostListings));
  }
  listing_.post([this, done = std::move(done)]() mutable {
    std::vector<VersionStatus> lines = index_with_unknown();
    {
      MutexLock ended(mutex_);
      --listings_;
    }
    done(std::move(lines));
  });
}

std::vector<VersionStatus> ModelRepository::index_with_unknown() const {
  std::set<std::string> unknown;
  for (const storage::LocalFolder& folder : folders()) {
    const auto names = folder.list_models();
    if (names) unknown.insert(names->begin(), names->end());
  }
  std::vector<VersionStatus> lines = index();
  for (const VersionStatus& line : lines) unknown.erase(line.model);
  for (const std::string& name : unknown) lines.push_back({name, "", VersionState::kUnknown, ""});
  std::ranges::stable_sort(lines, {}, &VersionStatus::model);
  return lines;
}

}  // namespace proa::lifecycle
