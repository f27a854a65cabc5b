#include "config/proto_reader.h"

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "config/backend_names.h"
#include "config/metric_control.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

// About 285 years: what a clock of nanoseconds can still add.
constexpr std::uint64_t kMaxMicroseconds = 9'000'000'000'000'000;

// Reads the message; fields are named by their paths in problems.
class Reader {
 public:
  Reader(const GivenFields& given, Problems& problems, std::vector<std::string>& warnings)
      : given_(given), problems_(problems), warnings_(warnings) {}

  ModelConfig read(const inference::ModelConfig& message) {
    ModelConfig config;
    config.name = message.name();
    config.platform = message.platform();
    config.backend = read_backend(message);
    config.version_policy = read_version_policy(message.version_policy());
    config.max_batch_size = message.max_batch_size();
    for (const auto& input : message.input()) config.inputs.push_back(read_input(input));
    for (const auto& output : message.output()) config.outputs.push_back(read_output(output));
    if (message.has_dynamic_batching()) {
      config.dynamic_batching = read_dynamic_batching(message.dynamic_batching());
    }
    if (message.has_ensemble_scheduling()) {
      config.ensemble = read_ensemble(message.ensemble_scheduling());
    }
    for (const auto& group : message.instance_group()) {
      config.instance_groups.push_back(read_instance_group(group));
    }
    for (int i = 0; i < message.model_warmup_size(); ++i) {
      config.warm_ups.push_back(
          read_warm_up(message.model_warmup(i), fmt::format("model_warmup[{}]", i)));
    }
    config.default_model_filename = message.default_model_filename();
    for (const auto& [key, value] : message.parameters()) {
      config.parameters[key] = value.string_value();
    }
    config.metric_tags.insert(message.metric_tags().begin(), message.metric_tags().end());
    config.histogram_buckets = read_metric_controls(message.model_metrics(), problems_);
    config.decoupled = message.model_transaction_policy().decoupled();
    const auto& accelerators = message.optimization().execution_accelerators();
    // Both, for their warnings.
    const bool gpu = read_accelerators(accelerators.gpu_execution_accelerator(), "gpu");
    const bool cpu = read_accelerators(accelerators.cpu_execution_accelerator(), "cpu");
    config.half_precision = gpu || cpu;
    return config;
  }

 private:
  std::string resolve(const std::string& field, const std::string& name) {
    Result<std::string> resolved = resolve_backend_name(name);
    if (resolved) return *resolved;
    problems_.add(field, resolved.error().message);
    return {};
  }

  std::string read_backend(const inference::ModelConfig& message) {
    if (message.platform() == kEnsemblePlatform) return {};  // check_ensemble() says the rest
    // Both may be wrong in the same way; say it once.
    if (message.backend().empty() || message.backend() == message.platform()) {
      return message.platform().empty() ? "" : resolve("platform", message.platform());
    }
    std::string backend = resolve("backend", message.backend());
    if (message.platform().empty() || backend.empty()) return backend;
    const std::string platform = resolve("platform", message.platform());
    const bool on_gpu = platform == "openvino" && backend == "cuda";  // the same files
    if (!platform.empty() && platform != backend && !on_gpu) {
      problems_.add("platform", fmt::format("platform '{}' and backend '{}' contradict each other: "
                                            "remove one of them",
                                            log::printable(message.platform()),
                                            log::printable(message.backend())));
    }
    return backend;
  }

  VersionPolicy read_version_policy(const inference::ModelVersionPolicy& message) {
    VersionPolicy policy;
    if (message.has_all()) policy.kind = VersionPolicy::Kind::kAll;
    if (message.has_specific()) {
      policy.kind = VersionPolicy::Kind::kSpecific;
      policy.specific.assign(message.specific().versions().begin(),
                             message.specific().versions().end());
    }
    // latest {} means the latest one; latest { num_versions: 0 } is an error of the author's.
    if (message.has_latest() && (message.latest().num_versions() > 0 ||
                                 given_.contains("version_policy.latest.num_versions"))) {
      policy.latest_count = message.latest().num_versions();
    }
    return policy;
  }

  template <class Message>
  static Tensor read_tensor(const Message& message) {
    Tensor tensor;
    tensor.name = message.name();
    if (inference::DataType_IsValid(message.data_type())) {
      tensor.type = static_cast<DataType>(message.data_type());
    }
    for (const std::int64_t dim : message.dims()) tensor.dims.push_back(dim);
    if (message.has_reshape()) {
      Shape& reshape = tensor.reshape.emplace();
      for (const std::int64_t dim : message.reshape().shape()) reshape.push_back(dim);
    }
    return tensor;
  }

  static Tensor read_input(const inference::ModelInput& message) {
    Tensor tensor = read_tensor(message);
    if (inference::ModelInput::Format_IsValid(message.format())) {
      tensor.format = static_cast<Tensor::Format>(message.format());
    }
    tensor.optional = message.optional();
    tensor.allow_ragged_batch = message.allow_ragged_batch();
    return tensor;
  }

  static Tensor read_output(const inference::ModelOutput& message) {
    Tensor tensor = read_tensor(message);
    tensor.label_filename = message.label_filename();
    return tensor;
  }

  std::chrono::microseconds read_duration(std::uint64_t value, const std::string& field) {
    if (value <= kMaxMicroseconds) return std::chrono::microseconds(value);
    problems_.add(
        field, fmt::format("{} microseconds are more than the most that can be waited, {}", value,
                           kMaxMicroseconds));
    return std::chrono::microseconds(0);
  }

  QueuePolicy read_queue_policy(const inference::ModelQueuePolicy& message,
                                const std::string& field) {
    QueuePolicy policy;
    if (inference::ModelQueuePolicy::TimeoutAction_IsValid(message.timeout_action())) {
      policy.timeout_action = static_cast<QueuePolicy::TimeoutAction>(message.timeout_action());
    }
    policy.default_timeout = read_duration(message.default_timeout_microseconds(),
                                           field + ".default_timeout_microseconds");
    policy.allow_timeout_override = message.allow_timeout_override();
    policy.max_queue_size = message.max_queue_size();
    return policy;
  }

  DynamicBatching read_dynamic_batching(const inference::ModelDynamicBatching& message) {
    const std::string field = "dynamic_batching";
    DynamicBatching batching;
    batching.preferred_batch_sizes.assign(message.preferred_batch_size().begin(),
                                          message.preferred_batch_size().end());
    batching.max_queue_delay = read_duration(message.max_queue_delay_microseconds(),
                                             field + ".max_queue_delay_microseconds");
    batching.preserve_ordering = message.preserve_ordering();
    batching.priority_levels = message.priority_levels();
    batching.default_priority_level = message.default_priority_level();
    batching.default_queue_policy =
        read_queue_policy(message.default_queue_policy(), field + ".default_queue_policy");
    if (batching.priority_levels == 0 && !message.priority_queue_policy().empty()) {
      warnings_.push_back(field + ".priority_queue_policy has no effect: priority_levels is 0");
      return batching;
    }
    for (const auto& [level, policy] : message.priority_queue_policy()) {
      batching.priority_queue_policies[level] = read_queue_policy(
          policy, fmt::format("{}.priority_queue_policy[{}].value", field, level));
    }
    return batching;
  }

  // A version that is not stated means the latest, as -1 does.
  Ensemble read_ensemble(const inference::ModelEnsembling& message) {
    Ensemble ensemble;
    ensemble.max_inflight_requests = message.max_inflight_requests();
    for (int i = 0; i < message.step_size(); ++i) {
      const inference::ModelEnsembling::Step& stated = message.step(i);
      Ensemble::Step& step = ensemble.steps.emplace_back();
      step.model = stated.model_name();
      if (stated.model_version() != 0 ||
          given_.contains(fmt::format("ensemble_scheduling.step[{}].model_version", i))) {
        step.version = stated.model_version();
      }
      step.inputs.insert(stated.input_map().begin(), stated.input_map().end());
      step.outputs.insert(stated.output_map().begin(), stated.output_map().end());
    }
    return ensemble;
  }

  // Whether one of them is TensorRT told to use FP16.
  template <class Accelerators>
  bool read_accelerators(const Accelerators& accelerators, std::string_view device) {
    bool half_precision = false;
    for (int i = 0; i < accelerators.size(); ++i) {
      const auto& accelerator = accelerators[i];
      const auto mode = accelerator.parameters().find("precision_mode");
      const bool half = accelerator.name() == "tensorrt" &&
                        mode != accelerator.parameters().end() && mode->second == "FP16";
      half_precision |= half;
      warnings_.push_back(
          fmt::format("optimization.execution_accelerators.{}_execution_accelerator[{}]: there is "
                      "no accelerator "
                      "'{}' here{}",
                      device, i, log::printable(accelerator.name()),
                      half ? "; its precision_mode FP16 is taken as inference_precision f16" : ""));
    }
    return half_precision;
  }

  WarmUp read_warm_up(const inference::ModelWarmup& message, const std::string& field) {
    WarmUp warm_up;
    warm_up.name = message.name();
    warm_up.batch_size = read_count(message.batch_size(), field + ".batch_size");
    warm_up.count = std::max(1, read_count(message.count(), field + ".count"));
    for (const auto& [name, input] : message.inputs()) {
      warm_up.inputs[name] =
          read_warm_up_input(input, fmt::format("{}.inputs[{}]", field, log::printable(name)));
    }
    return warm_up;
  }

  std::int32_t read_count(std::uint32_t value, const std::string& field) {
    if (value <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(value);
    problems_.add(field, fmt::format("{} is too large; write a number below 2147483648", value));
    return 1;
  }

  WarmUp::Input read_warm_up_input(const inference::ModelWarmup::Input& message,
                                   const std::string& field) {
    WarmUp::Input input;
    if (inference::DataType_IsValid(message.data_type())) {
      input.type = static_cast<DataType>(message.data_type());
    }
    for (const std::int64_t dim : message.dims()) input.dims.push_back(dim);
    // As in Triton, which of the fields is there counts, and not its value.
    switch (message.input_data_type_case()) {
      case inference::ModelWarmup::Input::kZeroData:
        input.data = WarmUp::Data::kZero;
        break;
      case inference::ModelWarmup::Input::kRandomData:
        input.data = WarmUp::Data::kRandom;
        break;
      case inference::ModelWarmup::Input::kInputDataFile:
        input.data = WarmUp::Data::kFile;
        input.file = message.input_data_file();
        break;
      case inference::ModelWarmup::Input::INPUT_DATA_TYPE_NOT_SET:
        problems_.add(field,
                      "it has no data: write zero_data: true, random_data: true or "
                      "input_data_file: \"FILE\"");
    }
    return input;
  }

  InstanceGroup read_instance_group(const inference::ModelInstanceGroup& message) {
    InstanceGroup group;
    group.name = message.name();
    switch (message.kind()) {
      case inference::ModelInstanceGroup::KIND_CPU:
        group.kind = InstanceGroup::Kind::kCpu;
        break;
      case inference::ModelInstanceGroup::KIND_GPU:
        group.kind = InstanceGroup::Kind::kGpu;
        break;
      case inference::ModelInstanceGroup::KIND_MODEL:
        group.kind = InstanceGroup::Kind::kModel;
        break;
      default:
        group.kind = InstanceGroup::Kind::kAuto;
    }
    group.count = message.count();
    group.gpus.assign(message.gpus().begin(), message.gpus().end());
    return group;
  }

  const GivenFields& given_;
  Problems& problems_;
  std::vector<std::string>& warnings_;
};

}  // namespace

ModelConfig read_proto(const inference::ModelConfig& message, const GivenFields& given,
                       Problems& problems, std::vector<std::string>& warnings) {
  return Reader(given, problems, warnings).read(message);
}

}  // namespace proa::config
