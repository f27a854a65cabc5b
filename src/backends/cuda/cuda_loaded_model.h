#pragma once

#include <filesystem>
#include <map>
#include <memory>

#include "backends/cuda/cuda_instance.h"
#include "backends/cuda/device_health.h"
#include "backends/cuda/partitioned_model.h"
#include "backends/cuda/pinned_pool.h"
#include "backends/cuda/settings.h"
#include "backends/openvino/runtime.h"
#include "config/model_config.h"
#include "core/backend.h"
#include "engine/run/device_engine.h"

namespace ov {
class Model;
}

namespace proa::backends::cuda {

// What a model gets from the backend.
struct LoadContext {
  engine::DeviceEngine* engine = nullptr;  // outlives the model
  std::function<std::shared_ptr<DeviceHealth>(int device)> health;
  openvino::Runtime* runtime = nullptr;  // for parts on the CPU; outlives the model
  int processors = 1;                    // that those may keep busy
  std::filesystem::path tuning_cache;    // "" = none
  std::map<int, double> memory_limits;   // shares of GPUs' memory that may be in use after a load
  int build_threads = 4;
  bool tune_by_default = true;           // where the configuration does not say
  std::filesystem::path warm_up_folder;  // where the files of `model_warmup` lie
  bool said_before = false;              // another load of the model has warned of its settings
  const Clock* clock = &steady_clock();
};

// The GPUs that the configuration's instances run on, ascending. Errors: kInvalidArgument for
// groups that a GPU cannot hold (kind: KIND_CPU) and negative numbers.
Result<std::vector<int>> devices_of(const config::ModelConfig& config);

// Gives the model the shapes of the configuration and returns how both meet. Errors: those of
// openvino/binding.h.
Result<openvino::Binding> bind_and_reshape(ov::Model& model, const config::ModelConfig& config);

// Whether extents other than the batch are open.
bool has_open_extents(const openvino::Binding& binding);

// A network with its weights once on each of its GPUs; an instance is a stream there. What the
// engine cannot run, OpenVINO runs on the CPU in between.
class CudaLoadedModel final : public core::LoadedModel {
 public:
  // Binds, imports, optimises, tunes and loads. `model` is taken over and changed; only its batch
  // may be open.
  // Errors: those of openvino/binding.h, import.h and engine/run/device_engine.h.
  static Result<std::unique_ptr<CudaLoadedModel>> create(std::shared_ptr<ov::Model> model,
                                                         const config::ModelConfig& config,
                                                         const LoadContext& context);

  core::Execution execution() const override { return core::Execution::kAsync; }
  Result<std::unique_ptr<core::Instance>> create_instance(
      const core::InstancePlacement& placement) override;
  Status health() const override;

 private:
  struct Device {
    std::shared_ptr<DeviceHealth> health;
    std::unique_ptr<engine::DeviceModel> model;
    std::vector<std::shared_ptr<PinnedPool>> pools;  // for outputs, by port
  };
  explicit CudaLoadedModel(const LoadContext& context) : context_(context) {}
  // One graph for each part on the GPU.
  struct Prepared {
    std::vector<engine::Graph> graphs;               // by part; empty ones for the CPU
    std::vector<std::vector<std::int64_t>> buckets;  // by part
    std::vector<ov::CompiledModel> cpu;              // by part; empty ones for the GPU
    engine::DeviceModelOptions options;              // for all parts
  };
  Result<Prepared> prepare(const std::shared_ptr<ov::Model>& model, const Settings& settings,
                           const config::ModelConfig& config);
  // Which precision, and what must not be rounded to it.
  Result<engine::PassOptions> pass_options(const ov::Model& model, const Settings& settings,
                                           const config::ModelConfig& config);
  void set_ends(openvino::Binding binding);
  // Errors: kResourceExhausted when more of the GPU's memory is in use than the limit allows.
  Status check_memory(int device) const;
  Status load_devices(const Prepared& prepared, const config::ModelConfig& config);
  Result<std::unique_ptr<engine::DeviceModel>> load_device(const Prepared& prepared, int device);
  Result<std::unique_ptr<engine::DeviceModel>> load_part(const Prepared& prepared, std::size_t part,
                                                         int device);

  const LoadContext context_;
  SplitModel split_;
  GraphEnds ends_;
  std::map<int, Device> devices_;
};

}  // namespace proa::backends::cuda
