#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lifecycle/load_request.h"

namespace proa::lifecycle {

// A load that somebody asked for.
struct LoadJob {
  std::string name;
  LoadRequest request;
  std::move_only_function<void(Status)> done;
  Status status;
  bool waits = false;     // for its steps, at its place; it is run again
  bool given_up = false;  // it waited, and its model is to be unloaded
};

// Which models are steps of which ensembles, which loads have not ended, and which of them wait
// until those of their steps have. Only keeps account: its owner acts.
// Threading: confined to its owner's lock.
class StepLoads {
 public:
  using JobPtr = std::shared_ptr<LoadJob>;

  // A load of that model was asked for; it has ended.
  void begin(const std::string& name) { ++pending_[name]; }
  void end(const std::string& name);
  bool pending(const std::string& name) const { return pending_.contains(name); }
  // The same of unloads.
  void begin_unload(const std::string& name) { ++unloads_[name]; }
  void end_unload(const std::string& name);
  bool unload_pending(const std::string& name) const { return unloads_.contains(name); }
  // How many of both that model has; the models that have any.
  std::size_t waiting(const std::string& name) const;
  std::set<std::string> busy() const;

  // What the model's configuration says: its steps, none when it is no ensemble. `from_request`: a
  // client sent it, so that loading the folder would not bring it back.
  void set_steps(const std::string& name, std::set<std::string> steps, bool from_request);
  // What set_steps() said last serves now; until then what served before does.
  void loaded(const std::string& name);
  void forget(const std::string& name) { ensembles_.erase(name); }
  const std::set<std::string>& steps_of(const std::string& name) const;
  // The same, with those of the configuration that serves.
  std::set<std::string> all_steps_of(const std::string& name) const;
  bool from_request(const std::string& name) const;
  // The ensembles that name the model as a step, in either.
  std::vector<std::string> ensembles_with(const std::string& step) const;

  // Errors: kInvalidArgument when the ensemble is a step of itself, by way of others or directly;
  // the message names the way.
  Status check_circle(const std::string& name) const;

  bool steps_pending(const std::string& name) const;
  // A job of that model has waited for its steps, and has not ended: what it still lacks, it lacks.
  bool has_waited(const std::string& name) const { return resumed_.contains(name); }
  // Keeps a job until steps_pending() is false for it, or its model is to be unloaded.
  void park(JobPtr job) { parked_.push_back(std::move(job)); }
  // The jobs that need not wait any more, in the order in which they came.
  std::vector<JobPtr> take_ready();

 private:
  struct Ensemble {
    std::set<std::string> steps;
    std::set<std::string> serving;
    bool from_request = false;
  };

  bool find_way(const std::string& from, const std::string& to, std::set<std::string>& seen,
                std::vector<std::string>& way) const;

  std::map<std::string, int> pending_;  // loads by model, at least one
  std::map<std::string, int> unloads_;  // the same
  std::map<std::string, Ensemble> ensembles_;
  std::vector<JobPtr> parked_;
  std::set<std::string> resumed_;
};

}  // namespace proa::lifecycle
