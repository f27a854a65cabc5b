#pragma once

#include <memory>
#include <string>

#include "backends/openvino/background_warm_up.h"
#include "backends/openvino/binding.h"
#include "backends/openvino/runtime.h"
#include "backends/openvino/settings.h"
#include "base/clock.h"
#include "config/model_config.h"
#include "core/backend.h"
#include "openvino/core/model.hpp"

namespace proa::backends::openvino {

// A compiled model. Its weights are there once: N instances are N infer requests over N streams of
// one compiled model (several compiled models would not share weights).
class OpenVinoModel final : public core::LoadedModel {
 public:
  struct Options {
    int processors = 1;  // that the process may keep busy
    const Clock* clock = &steady_clock();
  };

  // Binds, reshapes, compiles and warms. `model` is taken over and changed.
  // Errors: those of bind(), and OpenVINO's reasons for what it cannot compile or run.
  static Result<std::unique_ptr<OpenVinoModel>> create(Runtime& runtime,
                                                       std::shared_ptr<ov::Model> model,
                                                       const config::ModelConfig& config,
                                                       const Options& options);

  core::Execution execution() const override { return settings_.execution; }
  // More instances than processors would only queue inside OpenVINO.
  int useful_instances(int configured) const override;
  Result<std::unique_ptr<core::Instance>> create_instance(
      const core::InstancePlacement& placement) override;

  // True once no batch size up to max_batch_size is left to be warmed.
  bool warm() const { return background_ == nullptr || background_->finished(); }

 private:
  OpenVinoModel(std::string name, Settings settings, Binding binding, ov::CompiledModel compiled,
                const Options& options);
  Status warm_up(const config::ModelConfig& config, int streams);

  const std::string name_;
  const Settings settings_;
  const Binding binding_;
  const Options options_;
  ov::CompiledModel compiled_;
  std::unique_ptr<BackgroundWarmUp> background_;
};

}  // namespace proa::backends::openvino
