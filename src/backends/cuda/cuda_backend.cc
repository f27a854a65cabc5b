#include "backends/cuda/cuda_backend.h"

#include "backends/cuda/cuda_loaded_model.h"
#include "backends/cuda/open_shape_model.h"
#include "backends/openvino/completion.h"
#include "backends/openvino/read_ahead.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/run/load_library.h"
#include "openvino/core/model.hpp"

namespace proa::backends::cuda {
namespace {

using config::InstanceGroup;

class CudaBackend final : public core::Backend {
 public:
  explicit CudaBackend(const BackendOptions& options) : options_(options) {
    if (!options_.open_engine) options_.open_engine = [] { return engine::load_device_engine(); };
    if (options_.build_threads < 1) options_.build_threads = available_cpus();
  }

  std::string_view name() const override { return "cuda"; }

  Status complete_config(const core::ModelFiles& files, bool max_batch_size_given,
                         config::ModelConfig& config) override {
    PROA_ASSIGN(const openvino::ModelFile file, model_file(files, config));
    PROA_ASSIGN(const auto model, read_ahead_.peek(file));
    const openvino::Signature signature = openvino::read_signature(*model);
    Status completed = openvino::complete_from_signature(signature, max_batch_size_given, config);
    if (completed) {
      if (const auto bound = openvino::bind(signature, config); !bound) completed = bound.error();
    }
    if (!completed) return with_context(file.path.string(), std::move(completed).error());
    return complete_groups(config);
  }

  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles& files,
                                                  const config::ModelConfig& config) override {
    PROA_ASSIGN(engine::DeviceEngine * engine, open());
    PROA_ASSIGN(const openvino::ModelFile file, model_file(files, config));
    PROA_ASSIGN(auto model, read_ahead_.take(file));
    LoadContext context;
    context.engine = engine;
    context.health = [this](int device) { return health_of(device); };
    context.runtime = &runtime_;
    context.processors = available_cpus();
    context.tuning_cache = options_.tuning_cache;
    context.memory_limits = options_.memory_limits;
    context.build_threads = options_.build_threads;
    context.warm_up_folder = files.model_folder / "warmup";
    context.clock = options_.clock;
    auto loaded = create(std::move(model), config, context);
    if (!loaded) return with_context(file.path.string(), std::move(loaded).error());
    return loaded;
  }

 private:
  static Result<std::unique_ptr<core::LoadedModel>> create(std::shared_ptr<ov::Model> model,
                                                           const config::ModelConfig& config,
                                                           const LoadContext& context) {
    PROA_ASSIGN(const openvino::Binding binding, bind_and_reshape(*model, config));
    if (has_open_extents(binding)) {
      PROA_ASSIGN(auto open, OpenShapeModel::create(std::move(model), config, context));
      return std::unique_ptr<core::LoadedModel>(std::move(open));
    }
    PROA_ASSIGN(auto fixed, CudaLoadedModel::create(std::move(model), config, context));
    return std::unique_ptr<core::LoadedModel>(std::move(fixed));
  }

  static Result<openvino::ModelFile> model_file(const core::ModelFiles& files,
                                                const config::ModelConfig& config) {
    return openvino::find_model_file(files.version_folder / config.default_model_filename);
  }

  static Error without_gpu(const Error& error) {
    return {error.code,
            error.message +
                "; to run the model on the CPU, write KIND_CPU in its instance_group or "
                "start the server with --gpu-models-on-cpu"};
  }

  Result<engine::DeviceEngine*> open() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (engine_ == nullptr) {
      const Result<engine::DeviceEngine*> engine = options_.open_engine();
      if (!engine) return without_gpu(engine.error());
      const Result<int> devices = (*engine)->device_count();
      if (!devices) return without_gpu(devices.error());
      engine_ = *engine;
      devices_ = *devices;
    }
    return engine_;
  }

  // A group that names no device has its instances on each (Triton's rule for KIND_GPU).
  Status complete_groups(config::ModelConfig& config) PROA_EXCLUDES(mutex_) {
    PROA_TRY(devices_of(config));
    PROA_TRY(open());
    MutexLock lock(mutex_);
    if (config.instance_groups.empty()) config.instance_groups.emplace_back();
    for (InstanceGroup& group : config.instance_groups) {
      if (!group.gpus.empty()) continue;
      for (int device = 0; device < devices_; ++device) group.gpus.push_back(device);
    }
    return {};
  }

  std::shared_ptr<DeviceHealth> health_of(int device) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::shared_ptr<DeviceHealth>& health = health_[device];
    if (health == nullptr) health = std::make_shared<DeviceHealth>(device);
    return health;
  }

  BackendOptions options_;
  openvino::Runtime runtime_;
  openvino::ReadAhead read_ahead_;
  Mutex mutex_;
  engine::DeviceEngine* engine_ PROA_GUARDED_BY(mutex_) = nullptr;
  int devices_ PROA_GUARDED_BY(mutex_) = 0;
  std::map<int, std::shared_ptr<DeviceHealth>> health_ PROA_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<core::Backend> create_cuda_backend(const BackendOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace proa::backends::cuda
