// Ensembles and the models of their steps: who waits for whom, and what follows from a change.
#include <utility>

#include "base/log.h"
#include "lifecycle/model_repository.h"

namespace proa::lifecycle {

// May the ensemble be loaded now? In explicit mode, loads the steps that are not there.
Result<bool> ModelRepository::steps_settled(const std::string& name,
                                            const config::Ensemble* ensemble, bool from_request) {
  std::set<std::string> steps;
  if (ensemble != nullptr) {
    for (const config::Ensemble::Step& step : ensemble->steps) steps.insert(step.model);
  }
  std::vector<StepLoads::JobPtr> needed;
  bool pending = false;
  {
    MutexLock lock(mutex_);
    step_loads_.set_steps(name, steps, from_request);
    if (steps.empty()) return true;
    PROA_TRY(step_loads_.check_circle(name));
    const bool may_load = options_.mode == ControlMode::kExplicit && !shutting_down_;
    if (may_load && !step_loads_.has_waited(name)) {
      for (const std::string& step : steps) {
        if (step_loads_.pending(step) || catalog_->has_ready(step)) continue;
        // To be unloaded next: it comes again at once, and load_now() gives it up.
        if (step_loads_.unload_pending(name)) return false;
        needed.push_back(make_job_locked(step, {}, [](const Status&) {}));
      }
    }
    pending = step_loads_.steps_pending(name);
  }
  for (auto& job : needed) post(std::move(job));
  return !pending;
}

// Keeps the load at its place, before what was asked for later, until its steps' have ended, which
// may be so by now.
void ModelRepository::park(const StepLoads::JobPtr& job) {
  jobs_.hold(job->name);
  {
    MutexLock lock(mutex_);
    step_loads_.park(job);
  }
  resume_parked();
}

void ModelRepository::resume_parked() {
  std::vector<StepLoads::JobPtr> ready;
  {
    MutexLock lock(mutex_);
    ready = step_loads_.take_ready();
  }
  for (const StepLoads::JobPtr& job : ready) jobs_.resume(job->name);
}

// The ensembles that the model is a step of.
std::vector<ModelRepository::Follower> ModelRepository::followers_locked(
    const std::string& step) const {
  std::vector<Follower> followers;
  if (shutting_down_) return followers;
  for (std::string& name : step_loads_.ensembles_with(step)) {
    const bool pending = step_loads_.pending(name);
    followers.push_back({std::move(name), pending});
  }
  return followers;
}

// The model was loaded, or taken out, or could not be loaded: the same may now be true of the
// ensembles that it is a step of.
void ModelRepository::tell_ensembles(const std::string& step) {
  std::vector<Follower> followers;
  {
    MutexLock lock(mutex_);
    followers = followers_locked(step);
  }
  tell(followers, step, false);
}

void ModelRepository::tell(const std::vector<Follower>& followers, const std::string& step,
                           bool loaded) {
  for (const Follower& follower : followers) {
    // At once, even while a load of it waits: readiness follows what is there now.
    jobs_.run_between(follower.name,
                      [this, follower, step, loaded] { recheck_ensemble(follower, step, loaded); });
  }
}

void ModelRepository::recheck_ensemble(const Follower& follower, const std::string& step,
                                       bool loaded) {
  const std::string& name = follower.name;
  if (catalog_->recheck(name)) tell_ensembles(name);
  bool again = false;
  {
    MutexLock lock(mutex_);
    // One that failed is worth another try, unless a load was to come when the step changed, which
    // sees the change by itself.
    again = !follower.load_to_come && !shutting_down_ && !step_loads_.pending(name) &&
            !step_loads_.from_request(name) && !step_loads_.steps_of(name).empty();
  }
  if (!again || !catalog_->has_ready(step)) return;
  // Its new files may fit the step's new version as they did not fit the old one.
  if (catalog_->has_loaded(name) && !(loaded && updater_.last_failed(name))) return;
  log::info("ensemble '{}': its step '{}' is ready, loading it again", log::printable(name),
            log::printable(step));
  load_for_others(name);
}

// Loads a model that nobody has asked for by its name.
void ModelRepository::load_for_others(const std::string& name) {
  StepLoads::JobPtr job;
  {
    MutexLock lock(mutex_);
    job = make_job_locked(name, {}, [](const Status&) {});
  }
  post(std::move(job));
}

// Steps that came only with this ensemble and that no other needs.
std::vector<std::string> ModelRepository::steps_to_unload(const std::string& ensemble) const {
  std::vector<std::string> names;
  MutexLock lock(mutex_);
  for (const std::string& step : step_loads_.all_steps_of(ensemble)) {
    if (asked_for_.contains(step) || step_loads_.ensembles_with(step).size() > 1) continue;
    names.push_back(step);
  }
  return names;
}

}  // namespace proa::lifecycle
