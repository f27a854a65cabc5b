#include "core/model.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/ensemble.h"
#include "core/scheduler.h"
#include "core/statistics.h"

namespace proa::core {
namespace {

using config::InstanceGroup;

// One placement for every instance that the configuration asks for, at least one.
std::vector<InstancePlacement> placements(const config::ModelConfig& config) {
  std::vector<InstanceGroup> groups = config.instance_groups;
  if (groups.empty()) groups.push_back(InstanceGroup{.kind = InstanceGroup::Kind::kCpu});
  std::vector<InstancePlacement> result;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const InstanceGroup& group = groups[g];
    const std::string name = group.name.empty() ? fmt::format("{}_{}", config.name, g) : group.name;
    std::vector<std::int32_t> devices = group.gpus;
    if (devices.empty()) devices.push_back(0);
    int number = 0;
    for (const std::int32_t device : devices) {
      for (int i = 0; i < std::max(1, group.count); ++i) {
        result.push_back({fmt::format("{}_{}", name, number++), group.kind, device});
      }
    }
  }
  return result;
}

Result<std::vector<std::unique_ptr<Instance>>> create_instances(const config::ModelConfig& config,
                                                                LoadedModel& loaded) {
  std::vector<InstancePlacement> wanted = placements(config);
  const int useful = loaded.useful_instances(static_cast<int>(wanted.size()));
  wanted.resize(std::min(wanted.size(), static_cast<std::size_t>(std::max(1, useful))));
  std::vector<std::unique_ptr<Instance>> instances;
  for (const InstancePlacement& placement : wanted) {
    PROA_ASSIGN(instances.emplace_back(), loaded.create_instance(placement));
  }
  return instances;
}

}  // namespace

Model::Model(config::ModelConfig config, std::int64_t version, std::unique_ptr<LoadedModel> loaded,
             Options& options)
    : keep_alive_(std::move(options.keep_alive)),
      config_(std::move(config)),
      version_(version),
      version_string_(std::to_string(version)),
      labels_(std::move(options.labels)),
      loaded_(std::move(loaded)) {}

std::shared_ptr<Model> Model::allocate(config::ModelConfig config, std::int64_t version,
                                       std::unique_ptr<LoadedModel> loaded, Options& options) {
  PROA_CHECK(options.timer != nullptr && options.reaper != nullptr,
             "a model needs a timer and a reaper");
  options.reaper->expect();
  return {new Model(std::move(config), version, std::move(loaded), options),
          [reaper = options.reaper](Model* last) {
            reaper->destroy([gone = std::unique_ptr<Model>(last)]() mutable { gone.reset(); });
          }};
}

Result<std::shared_ptr<Model>> Model::create(config::ModelConfig config, std::int64_t version,
                                             std::unique_ptr<LoadedModel> loaded, Options options) {
  const TimePoint began = std::min(options.load_began, options.clock->now());
  const auto model = allocate(std::move(config), version, std::move(loaded), options);
  PROA_ASSIGN(auto instances, create_instances(model->config_, *model->loaded_));
  PROA_TRY(warm_up(model, instances, options.warm_up));
  model->statistics_ = std::make_shared<ModelStatistics>(instances.size(), *options.clock);
  const auto scheduler =
      std::make_shared<Scheduler>(model->config_, std::move(instances),
                                  Scheduler::Options{.execution = model->loaded_->execution(),
                                                     .clock = options.clock,
                                                     .timer = options.timer,
                                                     .statistics = model->statistics_});
  model->dispatcher_ = scheduler;
  PROA_TRY(scheduler->start());
  model->load_time_ = options.clock->now() - began;
  return model;
}

Result<std::shared_ptr<Model>> Model::create_ensemble(config::ModelConfig config,
                                                      std::int64_t version, Options options) {
  const TimePoint began = std::min(options.load_began, options.clock->now());
  const auto model = allocate(std::move(config), version, nullptr, options);
  model->statistics_ = std::make_shared<ModelStatistics>(0, *options.clock);
  const auto ensemble =
      std::make_shared<Ensemble>(model->config_, Ensemble::Options{.clock = options.clock,
                                                                   .statistics = model->statistics_,
                                                                   .find = options.find_model});
  model->dispatcher_ = ensemble;
  // The steps are there and fit; one that is not ready now will be.
  if (const auto pinned = ensemble->pin(0); !pinned) return pinned.error();
  model->load_time_ = options.clock->now() - began;
  return model;
}

Model::~Model() {
  if (dispatcher_ != nullptr) dispatcher_->stop();
}

void Model::infer(std::unique_ptr<Request> request, Caller caller) {
  PROA_CHECK(request->model.get() == this && request->sink != nullptr,
             "a request for this model, with a sink");
  const std::shared_ptr<Model> keep = request->model;
  dispatcher_->submit(std::move(request), caller);
}

Status Model::health() const {
  if (loaded_ != nullptr) PROA_TRY(loaded_->health());
  return dispatcher_->health();
}

void Model::shut_down() { dispatcher_->shut_down(); }

std::size_t Model::in_flight() const { return dispatcher_->in_flight(); }

}  // namespace proa::core
