#include "backends/cuda/open_shape_model.h"

#include "backends/cuda/open_shape_instance.h"
#include "base/log.h"
#include "openvino/core/model.hpp"

namespace proa::backends::cuda {

Result<std::unique_ptr<OpenShapeModel>> OpenShapeModel::create(std::shared_ptr<ov::Model> model,
                                                               const config::ModelConfig& config,
                                                               const LoadContext& context) {
  std::vector<std::string> ignored;  // keys, warned of with the first shape
  PROA_ASSIGN(const Settings settings, parse_settings(config, ignored));
  PROA_ASSIGN(const std::vector<int> devices, devices_of(config));
  std::unique_ptr<OpenShapeModel> loaded(new OpenShapeModel(std::move(model), config, context));
  loaded->context_.tune_by_default = false;  // a request waits for it
  loaded->most_shapes_ = static_cast<std::size_t>(settings.most_shapes);
  for (const int device : devices) {
    loaded->health_[device] = context.health(device);
    PROA_TRY(loaded->health_[device]->status());
  }
  return loaded;
}

Result<std::unique_ptr<core::Instance>> OpenShapeModel::create_instance(
    const core::InstancePlacement& placement) {
  const auto health = health_.find(placement.device);
  if (health == health_.end()) {
    return error::invalid_argument("instance {}: GPU {} was not asked for", placement.name,
                                   placement.device);
  }
  PROA_ASSIGN(auto instance,
              OpenShapeInstance::create({.placement = placement,
                                         .batches = config_.batches(),
                                         .most_shapes = most_shapes_,
                                         .health = health->second,
                                         .model_for = [this, device = placement.device](
                                                          const std::vector<Shape>& inputs) {
                                           return shaped(device, inputs);
                                         }}));
  return instance;
}

Status OpenShapeModel::health() const {
  for (const auto& [device, health] : health_) PROA_TRY(health->status());
  return {};
}

Result<std::shared_ptr<CudaLoadedModel>> OpenShapeModel::shaped(int device,
                                                                const std::vector<Shape>& inputs) {
  MutexLock lock(mutex_);
  std::erase_if(built_, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<CudaLoadedModel>& known = built_[{device, shapes_text(inputs)}];
  if (auto model = known.lock()) return model;
  const TimePoint begin = context_.clock->now();
  PROA_ASSIGN(std::shared_ptr<CudaLoadedModel> made, build(device, inputs));
  known = made;
  context_.said_before = true;
  log::info("model {}: plans for inputs of shape {} on GPU {} made in {:.1f} s",
            log::printable(config_.name), shapes_text(inputs), device,
            std::chrono::duration<double>(context_.clock->now() - begin).count());
  return made;
}

Result<std::unique_ptr<CudaLoadedModel>> OpenShapeModel::build(
    int device, const std::vector<Shape>& inputs) const {
  config::ModelConfig config = config_;
  // Other GPUs may have failed, or need other shapes.
  for (config::InstanceGroup& group : config.instance_groups) {
    std::erase_if(group.gpus, [&](std::int32_t each) { return each != device; });
  }
  std::erase_if(config.instance_groups, [](const auto& group) { return group.gpus.empty(); });
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    config::Tensor& tensor = config.inputs[i];
    (tensor.reshape ? *tensor.reshape : tensor.dims) = inputs[i];
  }
  return CudaLoadedModel::create(model_->clone(), config, context_);
}

}  // namespace proa::backends::cuda
