#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "core/backend.h"
#include "core/testing/puppet_model.h"
#include "storage/local_folder.h"

namespace proa::lifecycle {

// A backend that the test steers. Its models echo their inputs inline, or give their batches to the
// puppet when the parameter "puppet" is set, or have lost their device ("lost"). The parameter
// "fail" makes every load fail with its value, a file "broken" in a version's folder that
// version's. Threading: thread-safe.
class ScriptedBackend final : public core::Backend {
 public:
  std::string_view name() const override { return "scripted"; }

  // Loads of that model wait until release().
  void hold(const std::string& model) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    held_.insert(model);
  }
  void release(const std::string& model) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    held_.erase(model);
    changed_.notify_all();
  }
  // Blocks until a load of that model has begun.
  void wait_for_load(const std::string& model) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!begun_.contains(model)) changed_.wait(mutex_);
  }

  // How often that model's versions were to be loaded.
  int loads(const std::string& model) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return loads_[model];
  }
  // The folder of the version that was loaded last.
  std::filesystem::path last_folder() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return last_folder_;
  }

  core::Puppet& puppet() { return puppet_; }

  // Leaves max_batch_size alone; "x" and "y" of FP32 where nothing is stated.
  Status complete_config(const core::ModelFiles&, bool, config::ModelConfig& config) override {
    config::Tensor tensor{.name = "x", .type = DataType::kFp32, .dims = {2}};
    if (config.inputs.empty()) config.inputs.push_back(tensor);
    tensor.name = "y";
    if (config.outputs.empty()) config.outputs.push_back(tensor);
    return {};
  }

  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles& files,
                                                  const config::ModelConfig& config) override {
    {
      MutexLock lock(mutex_);
      begun_.insert(config.name);
      ++loads_[config.name];
      last_folder_ = files.version_folder;
      changed_.notify_all();
      while (held_.contains(config.name)) changed_.wait(mutex_);
    }
    const auto fail = config.parameters.find("fail");
    if (fail != config.parameters.end()) return error::invalid_argument("{}", fail->second);
    if (storage::read_file(files.version_folder / "broken", 1)) {
      return error::invalid_argument("version {} is broken", files.version);
    }
    if (config.parameters.contains("lost")) return std::make_unique<LostModel>();
    if (config.parameters.contains("puppet")) return std::make_unique<PuppetModel>(puppet_);
    return std::make_unique<core::EchoModel>(core::Execution::kInline);
  }

 private:
  class LostModel final : public core::LoadedModel {
   public:
    core::Execution execution() const override { return core::Execution::kInline; }
    Result<std::unique_ptr<core::Instance>> create_instance(
        const core::InstancePlacement&) override {
      return std::make_unique<core::EchoInstance>();
    }
    Status health() const override { return error::unavailable("the device is gone"); }
  };
  class PuppetModel final : public core::LoadedModel {
   public:
    explicit PuppetModel(core::Puppet& puppet) : puppet_(puppet) {}
    core::Execution execution() const override { return core::Execution::kAsync; }
    Result<std::unique_ptr<core::Instance>> create_instance(
        const core::InstancePlacement&) override {
      return std::make_unique<core::PuppetInstance>(puppet_);
    }

   private:
    core::Puppet& puppet_;
  };

  core::Puppet puppet_;
  Mutex mutex_;
  CondVar changed_;
  std::set<std::string> held_ PROA_GUARDED_BY(mutex_);
  std::set<std::string> begun_ PROA_GUARDED_BY(mutex_);
  std::map<std::string, int> loads_ PROA_GUARDED_BY(mutex_);
  std::filesystem::path last_folder_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::lifecycle
