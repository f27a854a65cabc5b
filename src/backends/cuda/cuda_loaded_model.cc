#include "backends/cuda/cuda_loaded_model.h"

#include <algorithm>
#include <set>

#include "backends/cuda/import.h"
#include "backends/cuda/overflow.h"
#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "base/log.h"
#include "engine/graph/batch.h"
#include "engine/passes/pass.h"
#include "fmt/ranges.h"
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

// The types and shapes that clients were promised are the graph's. Returns the bucket sizes.
Status check_rows(const engine::Graph& graph, const config::ModelConfig& config) {
  if (const auto obstacle = engine::batch_obstacle(graph)) {
    return error::invalid_argument(
        "max_batch_size is {}, but rows of this model cannot be computed side by side: {}; set "
        "max_batch_size: 0 and whole shapes",
        config.max_batch_size, *obstacle);
  }
  return {};
}

Result<std::vector<std::int64_t>> buckets_of(const engine::Graph& graph, const Settings& settings,
                                             const config::ModelConfig& config) {
  if (!config.batches()) {
    const Shape& first = graph.value(graph.inputs.front()).shape;
    return std::vector<std::int64_t>{first.empty() ? 1 : first[0]};
  }
  PROA_TRY(check_rows(graph, config));
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

// Refuses parts on the CPU where they must not be or cannot.
Status check_split(const SplitModel& split, const Settings& settings,
                   const config::ModelConfig& config) {
  if (split.on_gpu_alone()) return {};
  if (settings.require_gpu) {
    return error::failed_precondition("require_gpu is set, but not all can run on the GPU: {}",
                                      report_text(split));
  }
  for (const EdgeTensor& tensor : split.tensors) {
    if (config.max_batch_size <= 1 || (!tensor.shape.empty() && tensor.shape[0] == Shape::kAny)) {
      continue;
    }
    return error::unimplemented(
        "'{}' has to cross between GPU and CPU, but its shape {} does not begin with the batch; "
        "set "
        "max_batch_size: 0 or 1, or write KIND_CPU in the instance_group",
        tensor.name, tensor.shape.to_string());
  }
  return {};
}

// A name that nothing has is a typing error, and the layer is not treated as its author believes.
void warn_of_unmatched(const ov::Model& model, const Settings& settings,
                       const std::string& model_name) {
  std::set<std::string, std::less<>> names, types;
  for (const std::shared_ptr<ov::Node>& node : model.get_ops()) {
    types.insert(node->get_type_info().name);
    names.insert(node->get_friendly_name());
    for (const auto& output : node->outputs()) {
      names.insert(output.get_names().begin(), output.get_names().end());
    }
  }
  const auto check = [&](std::string_view key, const auto& wanted, const auto& known) {
    for (const std::string& name : wanted) {
      if (known.contains(name)) continue;
      log::warn("model {}: {} names '{}', which the model does not have",
                log::printable(model_name), key, log::printable(name));
    }
  };
  check("fp32_nodes", settings.fp32_nodes, names);
  check("cpu_nodes", settings.placement.cpu_nodes, names);
  check("cpu_operators", settings.placement.cpu_operators, types);
}

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

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

bool has_open_extents(const openvino::Binding& binding) {
  return std::ranges::any_of(binding.port_shapes, [&](const Shape& shape) {
    const auto dims = shape.dims().subspan(binding.batches ? 1 : 0);
    return std::ranges::find(dims, Shape::kAny) != dims.end();
  });
}

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
  PROA_ASSIGN(Settings settings, parse_settings(config, unknown_keys));
  if (!context.said_before) {
    warn_of_unknown(config, unknown_keys);
    warn_of_unmatched(*model, settings, config.name);
  }
  PROA_ASSIGN(openvino::Binding binding, bind_and_reshape(*model, config));
  std::unique_ptr<CudaLoadedModel> loaded(new CudaLoadedModel(context));
  settings.placement.rows = std::max(config.max_batch_size, 1);
  settings.placement.processors = context.processors;
  PROA_ASSIGN(loaded->split_, split_model(model, settings.placement));
  PROA_TRY(check_split(loaded->split_, settings, config));
  PROA_ASSIGN(const Prepared prepared, loaded->prepare(model, settings, config));
  loaded->set_ends(std::move(binding));
  PROA_TRY(loaded->load_devices(prepared, config));
  for (Part& part : loaded->split_.parts) part.model.reset();  // with its weights
  return loaded;
}

Result<CudaLoadedModel::Prepared> CudaLoadedModel::prepare(const std::shared_ptr<ov::Model>& model,
                                                           const Settings& settings,
                                                           const config::ModelConfig& config) {
  Prepared prepared;
  prepared.options.tuning_cache = context_.tuning_cache;
  prepared.options.time_candidates = settings.tune.value_or(context_.tune_by_default);
  prepared.options.build_threads = context_.build_threads;
  prepared.options.progress = [name = config.name](const std::string& line) {
    log::info("model {}: {}", log::printable(name), line);
  };
  PROA_ASSIGN(prepared.cpu, compile_cpu_parts(split_, *context_.runtime,
                                              {.streams = std::max(1, config.instance_count()),
                                               .threads = context_.processors}));
  if (!split_.on_gpu_alone() && !context_.said_before) {
    log::warn("model {}: {}", log::printable(config.name), report_text(split_));
  }
  PROA_ASSIGN(const engine::PassOptions passes, pass_options(*model, settings, config));
  for (const Part& part : split_.parts) {
    engine::Graph& graph = prepared.graphs.emplace_back();
    std::vector<std::int64_t>& buckets = prepared.buckets.emplace_back();
    if (part.side == Side::kCpu) continue;
    // A model that is not divided keeps the order of its own inputs and outputs.
    const std::shared_ptr<ov::Model>& whole = split_.on_gpu_alone() ? model : part.model;
    PROA_ASSIGN(graph, import_model(whole, 1));
    if (config.max_batch_size > 1) {  // with one row, any extent of 1 could be the batch
      PROA_ASSIGN(const engine::Graph two_rows, import_model(whole, 2));
      PROA_TRY(check_rows(two_rows, config));
    }
    PROA_TRY(engine::run_passes(graph, passes));
    PROA_ASSIGN(buckets, buckets_of(graph, settings, config));
    ends_.largest = buckets.back();
  }
  return prepared;
}

Result<engine::PassOptions> CudaLoadedModel::pass_options(const ov::Model& model,
                                                          const Settings& settings,
                                                          const config::ModelConfig& config) {
  engine::PassOptions passes;
  passes.precision = settings.precision;
  passes.keep_fp32 = settings.fp32_nodes;
  if (settings.precision == engine::Precision::kFp16 && settings.check_overflow) {
    PROA_ASSIGN(const std::vector<SampleRow> rows,
                sample_rows(model, config, context_.warm_up_folder));
    PROA_ASSIGN(auto found, find_overflows(*context_.runtime, model, rows, context_.processors));
    if (!found.empty()) {
      log::info("model {}: computed in FP32 because FP16 does not hold their numbers: {}",
                log::printable(config.name),
                log::printable(fmt::format("{}", fmt::join(found, ", "))));
    }
    passes.keep_fp32.merge(found);
  }
  const auto names = passes.keep_fp32;
  for (const std::string& name : names) {
    passes.keep_fp32.insert(std::string(kFromOtherPart) + name);
  }
  return passes;
}

void CudaLoadedModel::set_ends(openvino::Binding binding) {
  ends_.binding = std::move(binding);
  const auto tensor = [&](int index) -> const EdgeTensor& {
    return split_.tensors[static_cast<std::size_t>(index)];
  };
  for (const int index : split_.inputs) {
    ends_.input_bytes.push_back(tensor(index).bytes(ends_.largest));
  }
  for (const int index : split_.outputs) {
    const EdgeTensor& output = tensor(index);
    ends_.output_bytes.push_back(output.bytes(ends_.largest));
    ends_.output_shapes.push_back(output.shape);
  }
}

Status CudaLoadedModel::check_memory(int device) const {
  const auto limit = context_.memory_limits.find(device);
  if (limit == context_.memory_limits.end()) return {};
  PROA_ASSIGN(const engine::DeviceMemoryUse use, context_.engine->memory(device));
  const double allowed = limit->second * static_cast<double>(use.total);
  if (static_cast<double>(use.used) <= allowed) return {};
  return error::resource_exhausted(
      "GPU {}: {:.0f} of {:.0f} MiB would be in use, --model-load-gpu-limit {}:{} allows {:.0f}",
      device, mebibytes(use.used), mebibytes(use.total), device, limit->second,
      allowed / (1 << 20));
}

Status CudaLoadedModel::load_devices(const Prepared& prepared, const config::ModelConfig& config) {
  PROA_ASSIGN(const std::vector<int> devices, devices_of(config));
  for (const int device : devices) {
    Device& made = devices_[device];
    made.health = context_.health(device);
    PROA_TRY(made.health->status());
    PROA_TRY(check_memory(device));
    auto model = load_device(prepared, device);
    if (!model) {
      made.health->report(model.error());
      return with_context(fmt::format("GPU {}", device), std::move(model).error());
    }
    made.model = std::move(*model);
    for (const std::size_t bytes : ends_.output_bytes) {
      made.pools.push_back(PinnedPool::create(*context_.engine, device, bytes));
    }
    PROA_TRY(check_memory(device));
    log::info("model {}: on GPU {}, weights {:.1f} MiB", log::printable(config.name), device,
              mebibytes(made.model->constant_bytes()));
    log::debug("model {}: {}", log::printable(config.name), made.model->report());
  }
  return {};
}

Result<std::unique_ptr<engine::DeviceModel>> CudaLoadedModel::load_device(const Prepared& prepared,
                                                                          int device) {
  if (split_.on_gpu_alone()) return load_part(prepared, 0, device);
  std::vector<LoadedPart> parts(split_.parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].cpu = prepared.cpu[i];
    if (split_.parts[i].side == Side::kCpu) continue;
    parts[i].rows = prepared.buckets[i].back();
    PROA_ASSIGN(parts[i].device, load_part(prepared, i, device));
  }
  const bool batches = ends_.binding.batches;
  return std::make_unique<PartitionedModel>(split_, std::move(parts), *context_.engine, device,
                                            ends_.largest, batches);
}

Result<std::unique_ptr<engine::DeviceModel>> CudaLoadedModel::load_part(const Prepared& prepared,
                                                                        std::size_t part,
                                                                        int device) {
  engine::DeviceModelOptions options = prepared.options;
  options.device = device;
  options.buckets = prepared.buckets[part];
  return context_.engine->load(prepared.graphs[part], options);
}

Result<std::unique_ptr<core::Instance>> CudaLoadedModel::create_instance(
    const core::InstancePlacement& placement) {
  const auto device = devices_.find(placement.device);
  if (device == devices_.end()) {
    return error::invalid_argument("instance {}: GPU {} was not asked for", placement.name,
                                   placement.device);
  }
  // The first kernels run here.
  auto stream = device->second.model->make_stream(CudaInstance::kSlots);
  if (!stream) {
    device->second.health->report(stream.error());
    return with_context(placement.name, std::move(stream).error());
  }
  PROA_TRY(check_memory(placement.device));
  log::info("instance {}: GPU {}, {:.1f} MiB", log::printable(placement.name), placement.device,
            mebibytes((*stream)->bytes()));
  PROA_ASSIGN(auto instance,
              CudaInstance::create(std::move(*stream), {.name = placement.name,
                                                        .device = placement.device,
                                                        .engine = context_.engine,
                                                        .ends = &ends_,
                                                        .health = device->second.health,
                                                        .pools = device->second.pools,
                                                        .clock = context_.clock}));
  return instance;
}

Status CudaLoadedModel::health() const {
  for (const auto& [number, device] : devices_) PROA_TRY(device.health->status());
  return {};
}

}  // namespace proa::backends::cuda
