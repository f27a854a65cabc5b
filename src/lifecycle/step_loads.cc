#include "lifecycle/step_loads.h"

#include <algorithm>
#include <utility>

#include "fmt/ranges.h"

namespace proa::lifecycle {

namespace {

void count_down(std::map<std::string, int>& counts, const std::string& name) {
  const auto found = counts.find(name);
  if (found != counts.end() && --found->second == 0) counts.erase(found);
}

}  // namespace

void StepLoads::end(const std::string& name) {
  resumed_.erase(name);
  count_down(pending_, name);
}

void StepLoads::end_unload(const std::string& name) { count_down(unloads_, name); }

std::size_t StepLoads::waiting(const std::string& name) const {
  std::size_t sum = 0;
  for (const auto* counts : {&pending_, &unloads_}) {
    const auto found = counts->find(name);
    if (found != counts->end()) sum += static_cast<std::size_t>(found->second);
  }
  return sum;
}

std::set<std::string> StepLoads::busy() const {
  std::set<std::string> names;
  for (const auto* counts : {&pending_, &unloads_}) {
    for (const auto& [name, count] : *counts) names.insert(name);
  }
  return names;
}

void StepLoads::set_steps(const std::string& name, std::set<std::string> steps, bool from_request) {
  const auto [found, is_new] = ensembles_.try_emplace(name);
  Ensemble& ensemble = found->second;
  ensemble.steps = std::move(steps);
  ensemble.from_request = from_request;
  if (ensemble.steps.empty() && ensemble.serving.empty()) ensembles_.erase(found);
}

void StepLoads::loaded(const std::string& name) {
  const auto found = ensembles_.find(name);
  if (found == ensembles_.end()) return;
  found->second.serving = found->second.steps;
  if (found->second.steps.empty()) ensembles_.erase(found);
}

const std::set<std::string>& StepLoads::steps_of(const std::string& name) const {
  static const std::set<std::string> kNone;
  const auto found = ensembles_.find(name);
  return found == ensembles_.end() ? kNone : found->second.steps;
}

std::set<std::string> StepLoads::all_steps_of(const std::string& name) const {
  const auto found = ensembles_.find(name);
  if (found == ensembles_.end()) return {};
  std::set<std::string> all = found->second.steps;
  all.insert(found->second.serving.begin(), found->second.serving.end());
  return all;
}

bool StepLoads::from_request(const std::string& name) const {
  const auto found = ensembles_.find(name);
  return found != ensembles_.end() && found->second.from_request;
}

std::vector<std::string> StepLoads::ensembles_with(const std::string& step) const {
  std::vector<std::string> names;
  for (const auto& [name, ensemble] : ensembles_) {
    if (ensemble.steps.contains(step) || ensemble.serving.contains(step)) names.push_back(name);
  }
  return names;
}

Status StepLoads::check_circle(const std::string& name) const {
  std::set<std::string> seen;
  std::vector<std::string> way = {name};
  if (!find_way(name, name, seen, way)) return {};
  return error::invalid_argument(
      "ensemble '{}' is a step of itself: {}; take one of the steps out of the circle", name,
      fmt::join(way, " -> "));
}

bool StepLoads::find_way(const std::string& from, const std::string& to,
                         std::set<std::string>& seen, std::vector<std::string>& way) const {
  for (const std::string& step : steps_of(from)) {
    way.push_back(step);
    if (step == to) return true;
    if (seen.insert(step).second && find_way(step, to, seen, way)) return true;
    way.pop_back();
  }
  return false;
}

bool StepLoads::steps_pending(const std::string& name) const {
  return std::ranges::any_of(steps_of(name),
                             [this](const std::string& step) { return pending(step); });
}

std::vector<StepLoads::JobPtr> StepLoads::take_ready() {
  const auto rest = std::stable_partition(
      parked_.begin(), parked_.end(),
      [this](const JobPtr& job) { return steps_pending(job->name) && !unload_pending(job->name); });
  std::vector<JobPtr> ready(rest, parked_.end());
  parked_.erase(rest, parked_.end());
  for (const JobPtr& job : ready) resumed_.insert(job->name);
  return ready;
}

}  // namespace proa::lifecycle
