#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/cuda_loaded_model.h"
#include "base/mutex.h"

namespace proa::backends::cuda {

// A model whose extents beside the batch stay open (pictures of any size, texts of any length):
// plans are made for the shapes that come. The first request of a shape waits until its plans are
// built, requests of known shapes go on meanwhile. Each instance keeps as many shapes as the
// parameter `gpu_shapes` says and drops the one that was not used for longest; equal weights lie on
// a GPU once.
// Threading: as core::LoadedModel.
class OpenShapeModel final : public core::LoadedModel {
 public:
  // `model` has the shapes of the configuration. Errors: those of Settings and devices.
  static Result<std::unique_ptr<OpenShapeModel>> create(std::shared_ptr<ov::Model> model,
                                                        const config::ModelConfig& config,
                                                        const LoadContext& context);

  core::Execution execution() const override { return core::Execution::kAsync; }
  Result<std::unique_ptr<core::Instance>> create_instance(
      const core::InstancePlacement& placement) override;
  Status health() const override;

  // The model on that GPU for inputs of these shapes, in the configuration's order (without the
  // batch where the model batches); built when no instance holds it. Errors: those of
  // CudaLoadedModel::create.
  Result<std::shared_ptr<CudaLoadedModel>> shaped(int device, const std::vector<Shape>& inputs)
      PROA_EXCLUDES(mutex_);

 private:
  OpenShapeModel(std::shared_ptr<ov::Model> model, const config::ModelConfig& config,
                 const LoadContext& context)
      : model_(std::move(model)), config_(config), context_(context) {}
  Result<std::unique_ptr<CudaLoadedModel>> build(int device, const std::vector<Shape>& inputs) const
      PROA_REQUIRES(mutex_);

  const std::shared_ptr<ov::Model> model_;
  const config::ModelConfig config_;
  LoadContext context_;  // `said_before` guarded by mutex_
  std::size_t most_shapes_ = 1;
  std::map<int, std::shared_ptr<DeviceHealth>> health_;  // by device
  Mutex mutex_;  // also while one is built: who wants the same waits for it
  std::map<std::pair<int, std::string>, std::weak_ptr<CudaLoadedModel>> built_
      PROA_GUARDED_BY(mutex_);  // by device and shapes
};

}  // namespace proa::backends::cuda
