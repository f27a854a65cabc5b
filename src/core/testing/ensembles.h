#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "core/model.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"

namespace proa::core {

// A loaded model whose instances are those of a puppet.
class PuppetModel final : public LoadedModel {
 public:
  explicit PuppetModel(Puppet& puppet) : puppet_(puppet) {}
  Execution execution() const override { return Execution::kAsync; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<PuppetInstance>(puppet_);
  }

 private:
  Puppet& puppet_;
};

// How many instances of a test stood on the stack of one thread, one within the other.
struct StackDepth {
  std::atomic<int> deepest = 0;
  std::atomic<int> batches = 0;
};

// A loaded model that echoes inline and notes how deep in the stack.
class DepthModel final : public LoadedModel {
 public:
  explicit DepthModel(std::shared_ptr<StackDepth> depth) : depth_(std::move(depth)) {}
  Execution execution() const override { return Execution::kInline; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<DepthInstance>(*depth_);
  }

 private:
  class DepthInstance final : public Instance {
   public:
    explicit DepthInstance(StackDepth& depth) : depth_(depth) {}
    void start(std::unique_ptr<Batch> batch, Done done) override {
      thread_local int now = 0;
      ++now;
      ++depth_.batches;
      for (int deepest = depth_.deepest; now > deepest;) {
        if (depth_.deepest.compare_exchange_weak(deepest, now)) break;
      }
      echo_inputs(*batch);
      done(std::move(batch));
      --now;
    }

   private:
    StackDepth& depth_;
  };

  const std::shared_ptr<StackDepth> depth_;
};

// Models by name, as a repository would hold them. Threading: thread-safe.
class Models {
 public:
  explicit Models(ModelRuntime& runtime) : runtime_(runtime) {}

  std::shared_ptr<Model> add(const std::string& name, config::ModelConfig config,
                             std::unique_ptr<LoadedModel> loaded, std::int64_t version = 1) {
    config.name = name;
    return put(name,
               Model::create(std::move(config), version, std::move(loaded), runtime_.options()));
  }
  std::shared_ptr<Model> add_echo(const std::string& name, Execution execution = Execution::kInline,
                                  std::int64_t version = 1) {
    return add(name, float_config(8), std::make_unique<EchoModel>(execution), version);
  }
  std::shared_ptr<Model> add_puppet(const std::string& name, Puppet& puppet) {
    return add(name, float_config(8), std::make_unique<PuppetModel>(puppet));
  }
  std::shared_ptr<Model> add_ensemble(const config::ModelConfig& config) {
    return put(config.name, make_ensemble(config));
  }
  Result<std::shared_ptr<Model>> make_ensemble(const config::ModelConfig& config) {
    Model::Options options = runtime_.options();
    options.find_model = [this](std::string_view name,
                                std::string_view version) -> Result<std::shared_ptr<Model>> {
      auto model = find(name);
      if (model == nullptr) return error::not_found("'{}' is not found", name);
      if (version.empty() || model->version_string() == version) return model;
      return error::not_found("'{}' version {} is not found", name, version);
    };
    return Model::create_ensemble(config, 1, std::move(options));
  }

  std::shared_ptr<Model> find(std::string_view name) const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = models_.find(name);
    return found == models_.end() ? nullptr : found->second;
  }
  void remove(const std::string& name) PROA_EXCLUDES(mutex_) { set(name, nullptr); }

 private:
  std::shared_ptr<Model> put(const std::string& name, Result<std::shared_ptr<Model>> made) {
    PROA_CHECK(made.has_value(), made ? "" : made.error().message);
    set(name, *made);
    return *std::move(made);
  }
  void set(const std::string& name, std::shared_ptr<Model> model) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::swap(models_[name], model);
    lock.unlock();  // the old one goes without the lock
  }

  ModelRuntime& runtime_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<Model>, std::less<>> models_ PROA_GUARDED_BY(mutex_);
};

// An ensemble of FP32 models with INPUT0 and OUTPUT0, one behind the other.
inline config::ModelConfig chain_config(std::string name, const std::vector<std::string>& steps) {
  config::ModelConfig config = float_config(8);
  config.name = std::move(name);
  config.ensemble.emplace();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string from = i == 0 ? "INPUT0" : "t" + std::to_string(i);
    const std::string to = i + 1 == steps.size() ? "OUTPUT0" : "t" + std::to_string(i + 1);
    config.ensemble->steps.push_back(
        {.model = steps[i], .inputs = {{"INPUT0", from}}, .outputs = {{"OUTPUT0", to}}});
  }
  return config;
}

inline config::ModelConfig two_inputs_config() {
  config::ModelConfig config = float_config(8);
  config.inputs.push_back({.name = "INPUT1", .type = DataType::kFp32, .dims = {2}});
  config.outputs.push_back({.name = "OUTPUT1", .type = DataType::kFp32, .dims = {2}});
  return config;
}

// top, then left and right side by side, then join, which has two inputs and outputs.
inline config::ModelConfig diamond_config() {
  config::ModelConfig config = two_inputs_config();
  config.name = "diamond";
  config.inputs.pop_back();
  config.ensemble.emplace().steps = {
      {.model = "top", .inputs = {{"INPUT0", "INPUT0"}}, .outputs = {{"OUTPUT0", "t"}}},
      {.model = "left", .inputs = {{"INPUT0", "t"}}, .outputs = {{"OUTPUT0", "l"}}},
      {.model = "right", .inputs = {{"INPUT0", "t"}}, .outputs = {{"OUTPUT0", "r"}}},
      {.model = "join",
       .inputs = {{"INPUT0", "l"}, {"INPUT1", "r"}},
       .outputs = {{"OUTPUT0", "OUTPUT0"}, {"OUTPUT1", "OUTPUT1"}}}};
  return config;
}

}  // namespace proa::core
