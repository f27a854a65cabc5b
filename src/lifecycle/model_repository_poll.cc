#include <algorithm>

#include "base/log.h"
#include "lifecycle/model_repository.h"
#include "lifecycle/repository_watch.h"

namespace proa::lifecycle {

// Poll mode's thread: looks, decides, acts, waits.

void ModelRepository::poll() {
  PollPolicy policy;
  RepositoryWatch watch(folders());
  bool look_again = false;
  MutexLock lock(mutex_);
  while (true) {
    const auto pause = look_again ? std::min(options_.settle_time, options_.poll_interval)
                                  : options_.poll_interval;
    const TimePoint next = steady_clock().now() + pause;
    while (!shutting_down_ && steady_clock().now() < next) changed_.wait_until(mutex_, next);
    if (shutting_down_) return;
    lock.unlock();
    if (auto looks = watch.look(folders())) {
      const std::set<std::string> busy = busy_models();  // first: what ends then has tried
      const PollPolicy::Actions actions = policy.step(*std::move(looks), updater_.tried(), busy);
      look_again = actions.look_again;
      act(actions);
    }
    lock.lock();
  }
}

void ModelRepository::act(const PollPolicy::Actions& actions) {
  // All loads are known before the first begins, so that ensembles wait for those of their steps.
  std::vector<StepLoads::JobPtr> jobs;
  {
    MutexLock lock(mutex_);
    for (const std::string& name : actions.load) {
      asked_for_.insert(name);
      jobs.push_back(make_job_locked(name, {}, [](const Status&) {}));
    }
  }
  for (StepLoads::JobPtr& job : jobs) {
    log::info("model '{}': its files have changed", log::printable(job->name));
    post(std::move(job));
  }
  for (const std::string& name : actions.unload) {
    log::info("model '{}': its folder is gone", log::printable(name));
    post_unload(name, Catalog::Afterwards::kForget);
  }
}

std::set<std::string> ModelRepository::busy_models() const {
  MutexLock lock(mutex_);
  return step_loads_.busy();
}

void ModelRepository::begin_shut_down() {
  {
    MutexLock lock(mutex_);
    shutting_down_ = true;
  }
  changed_.notify_all();
}

void ModelRepository::stop_polling() {
  begin_shut_down();
  if (poller_.joinable()) poller_.join();
}

}  // namespace proa::lifecycle
