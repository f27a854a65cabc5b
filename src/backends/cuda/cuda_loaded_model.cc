#include "backends/cuda/cuda_loaded_model.h"

#include <algorithm>
#include <set>

#include "backends/cuda/import.h"
#include "backends/cuda/settings.h"
#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "base/log.h"
#include "engine/graph/batch.h"
#include "engine/passes/pass.h"
#include "openvino/core/model.hpp"

namespace proa::backends::cuda {
namespace {

using config::InstanceGroup;

void warn_of_unknown(const config::ModelConfig& config, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    log::warn("model {}: parameter {} means nothing to backend cuda and is ignored",
              log::printable(config.name), log::printable(key));
  }
}

// Gives the model the shapes of the configuration and returns how both meet.
Result<openvino::Binding> bind_and_reshape(ov::Model& model, const config::ModelConfig& config) {
  PROA_ASSIGN(openvino::Binding binding, openvino::bind(openvino::read_signature(model), config));
  if (!binding.must_reshape) return binding;
  const Status shaped = openvino::guarded(
      ErrorCode::kInvalidArgument, "the model cannot take the configured shapes", [&] {
        std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
        for (std::size_t port = 0; port < binding.port_shapes.size(); ++port) {
          shapes.emplace(model.input(port),
                         openvino::to_ov_partial_shape(binding.port_shapes[port]));
        }
        model.reshape(shapes);
      });
  PROA_TRY(shaped);
  return openvino::bind(openvino::read_signature(model), config);
}

// The types and shapes that clients were promised are the graph's. Returns the bucket sizes.
Result<std::vector<std::int64_t>> buckets_of(const engine::Graph& graph, const Settings& settings,
                                             const config::ModelConfig& config) {
  if (!config.batches()) {
    const Shape& first = graph.value(graph.inputs.front()).shape;
    return std::vector<std::int64_t>{first.empty() ? 1 : first[0]};
  }
  if (const auto obstacle = engine::batch_obstacle(graph)) {
    return error::invalid_argument(
        "max_batch_size is {}, but rows of this model cannot be computed side by side: {}; set "
        "max_batch_size: 0 and whole shapes",
        config.max_batch_size, *obstacle);
  }
  std::vector<std::int64_t> buckets = settings.buckets;
  if (buckets.empty()) {
    const auto preferred =
        config.dynamic_batching
            ? std::span<const std::int32_t>(config.dynamic_batching->preferred_batch_sizes)
            : std::span<const std::int32_t>();
    return choose_buckets(config.max_batch_size, preferred);
  }
  std::erase_if(buckets, [&](std::int64_t size) { return size > config.max_batch_size; });
  if (buckets.empty() || buckets.back() != config.max_batch_size) {
    buckets.push_back(config.max_batch_size);
  }
  return buckets;
}

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

Result<std::vector<int>> devices_of(const config::ModelConfig& config) {
  std::set<int> devices;
  for (const InstanceGroup& group : config.instance_groups) {
    if (group.kind == InstanceGroup::Kind::kCpu) {
      return error::invalid_argument(
          "instance_group '{}' is of kind KIND_CPU, but backend cuda runs on GPUs only: set "
          "KIND_GPU for all groups, or serve the CPU instances as a model of their own",
          group.name);
    }
    for (const std::int32_t device : group.gpus) {
      if (device < 0) return error::invalid_argument("gpus names {}", device);
      devices.insert(device);
    }
    if (group.gpus.empty()) devices.insert(0);
  }
  if (devices.empty()) devices.insert(0);
  return std::vector<int>(devices.begin(), devices.end());
}

Result<std::unique_ptr<CudaLoadedModel>> CudaLoadedModel::create(std::shared_ptr<ov::Model> model,
                                                                 const config::ModelConfig& config,
                                                                 const LoadContext& context) {
  std::vector<std::string> unknown_keys;
  PROA_ASSIGN(const Settings settings, parse_settings(config, unknown_keys));
  warn_of_unknown(config, unknown_keys);
  PROA_ASSIGN(openvino::Binding binding, bind_and_reshape(*model, config));
  PROA_ASSIGN(engine::Graph graph, import_model(model, 1));
  model.reset();
  engine::PassOptions passes;
  passes.precision = settings.precision;
  PROA_TRY(engine::run_passes(graph, passes));

  engine::DeviceModelOptions options;
  PROA_ASSIGN(options.buckets, buckets_of(graph, settings, config));
  options.tuning_cache = context.tuning_cache;
  options.time_candidates = settings.tune;
  options.build_threads = context.build_threads;
  options.progress = [name = config.name](const std::string& line) {
    log::info("model {}: {}", log::printable(name), line);
  };
  std::unique_ptr<CudaLoadedModel> loaded(new CudaLoadedModel(context));
  if (!config.batches()) {
    loaded->ends_.largest = options.buckets.back();
    loaded->set_ends(graph, std::move(binding));
  } else {
    PROA_ASSIGN(const engine::Graph largest, engine::with_batch(graph, options.buckets.back()));
    loaded->ends_.largest = options.buckets.back();
    loaded->set_ends(largest, std::move(binding));
  }
  PROA_TRY(loaded->load_devices(graph, config, options));
  return loaded;
}

void CudaLoadedModel::set_ends(const engine::Graph& graph, openvino::Binding binding) {
  ends_.binding = std::move(binding);
  for (const engine::ValueId id : graph.inputs) {
    ends_.input_bytes.push_back(graph.value(id).bytes());
  }
  for (const engine::ValueId id : graph.outputs) {
    ends_.output_bytes.push_back(graph.value(id).bytes());
    ends_.output_shapes.push_back(graph.value(id).shape);
    pools_.push_back(PinnedPool::create(*context_.engine, graph.value(id).bytes()));
  }
}

Status CudaLoadedModel::load_devices(const engine::Graph& graph, const config::ModelConfig& config,
                                     const engine::DeviceModelOptions& options) {
  PROA_ASSIGN(const std::vector<int> devices, devices_of(config));
  for (const int device : devices) {
    engine::DeviceModelOptions mine = options;
    mine.device = device;
    Device& made = devices_[device];
    made.health = context_.health(device);
    PROA_TRY(made.health->status());
    auto model = context_.engine->load(graph, mine);
    if (!model) {
      made.health->report(model.error());
      return with_context(fmt::format("GPU {}", device), std::move(model).error());
    }
    made.model = std::move(*model);
    log::info("model {}: on GPU {}, weights {:.1f} MiB", log::printable(config.name), device,
              mebibytes(made.model->constant_bytes()));
    log::debug("model {}: {}", log::printable(config.name), made.model->report());
  }
  return {};
}

Result<std::unique_ptr<core::Instance>> CudaLoadedModel::create_instance(
    const core::InstancePlacement& placement) {
  const auto device = devices_.find(placement.device);
  if (device == devices_.end()) {
    return error::invalid_argument("instance {}: GPU {} was not asked for", placement.name,
                                   placement.device);
  }
  auto stream = device->second.model->make_stream(CudaInstance::kSlots);
  if (!stream) return with_context(placement.name, std::move(stream).error());
  log::info("instance {}: GPU {}, {:.1f} MiB", log::printable(placement.name), placement.device,
            mebibytes((*stream)->bytes()));
  PROA_ASSIGN(auto instance,
              CudaInstance::create(std::move(*stream), {.name = placement.name,
                                                        .engine = context_.engine,
                                                        .ends = &ends_,
                                                        .health = device->second.health,
                                                        .pools = pools_,
                                                        .clock = context_.clock}));
  return instance;
}

Status CudaLoadedModel::health() const {
  for (const auto& [number, device] : devices_) PROA_TRY(device.health->status());
  return {};
}

}  // namespace proa::backends::cuda
