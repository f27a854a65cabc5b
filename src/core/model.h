#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/timer.h"
#include "config/model_config.h"
#include "core/backend.h"
#include "core/dispatcher.h"
#include "core/reaper.h"
#include "core/request.h"
#include "core/warm_up.h"

namespace proa::core {

class ModelStatistics;

// The model of that name and version ("" = the latest) that is ready now. Errors: kNotFound,
// kUnavailable with the reason. Threading: thread-safe, cheap enough for every request.
using ModelFinder =
    std::function<Result<std::shared_ptr<Model>>(std::string_view name, std::string_view version)>;

// One loaded version of a model: its configuration, counters, and what answers its requests:
// instances behind a queue, or the steps of an ensemble. A front end finds it in the repository,
// builds a Request for it and calls infer().
//
// Life: made by create(); held by shared_ptr by the repository and by every request in flight.
// shut_down() refuses new work and fails what is queued. When the last reference goes, on whichever
// thread, the reaper's thread destroys the model and joins its threads.
// Threading: thread-safe.
class Model : public std::enable_shared_from_this<Model> {
 public:
  struct Options {
    const Clock* clock = &steady_clock();
    Timer* timer = nullptr;    // required; must outlive the model
    Reaper* reaper = nullptr;  // required; its destructor waits for the model
    // The class labels of each output, for the classification extension; none = no labels.
    std::vector<std::vector<std::string>> labels;
    // When the loading of this version began, for load_time(); kNever = with create().
    TimePoint load_began = kNever;
    // What every instance answers before create() returns.
    std::vector<WarmUpSample> warm_up;
    // Held until the model is gone: temporary files that it reads, for example.
    std::shared_ptr<const void> keep_alive;
    // Finds the models of an ensemble's steps.
    ModelFinder find_model;
  };

  // Creates the instances, warms them and starts their threads. `loaded` comes from
  // `config.backend`'s load().
  static Result<std::shared_ptr<Model>> create(config::ModelConfig config, std::int64_t version,
                                               std::unique_ptr<LoadedModel> loaded,
                                               Options options);
  // A model whose requests run through those that config.ensemble names, found anew for each
  // request. Errors: kUnavailable when one of them is not ready, kInvalidArgument when they do not
  // fit together.
  static Result<std::shared_ptr<Model>> create_ensemble(config::ModelConfig config,
                                                        std::int64_t version, Options options);
  ~Model();

  const config::ModelConfig& config() const { return config_; }
  const std::string& name() const { return config_.name; }
  std::int64_t version() const { return version_; }
  const std::string& version_string() const { return version_string_; }
  const ModelStatistics& statistics() const { return *statistics_; }
  // The class labels of that output; empty when it has none.
  std::span<const std::string> labels(std::size_t output) const {
    return output < labels_.size() ? labels_[output] : std::span<const std::string>();
  }

  // From the begin of the loading until the instances were ready, warming included.
  Duration load_time() const { return load_time_; }

  // Takes the request (built for this model, sink set). Its sink gets exactly one final response:
  // the answer, or an error such as kUnavailable (queue full, shut down, time-out), kCancelled,
  // kDeadlineExceeded. May answer before it returns, on the caller's thread.
  void infer(std::unique_ptr<Request> request, Caller caller = Caller::kMayCompute);

  // Refuses new requests, answers the queued ones with kUnavailable; those with an instance finish.
  void shut_down();

  // Nothing, or why an instance cannot work any more, or a step of an ensemble is not ready.
  Status health() const;

  // See Dispatcher::pin.
  Result<std::shared_ptr<const Pin>> pin(int depth) const { return dispatcher_->pin(depth); }

  // Requests queued or running.
  std::size_t in_flight() const;

 private:
  Model(config::ModelConfig config, std::int64_t version, std::unique_ptr<LoadedModel> loaded,
        Options& options);

  // A model without a dispatcher, which the reaper destroys.
  static std::shared_ptr<Model> allocate(config::ModelConfig config, std::int64_t version,
                                         std::unique_ptr<LoadedModel> loaded, Options& options);

  const std::shared_ptr<const void> keep_alive_;  // goes last
  const config::ModelConfig config_;
  const std::int64_t version_;
  const std::string version_string_;
  const std::vector<std::vector<std::string>> labels_;
  Duration load_time_{0};
  std::shared_ptr<ModelStatistics> statistics_;
  std::unique_ptr<LoadedModel> loaded_;  // null for an ensemble
  std::shared_ptr<Dispatcher> dispatcher_;
};

}  // namespace proa::core
