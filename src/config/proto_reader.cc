#include "config/proto_reader.h"

#include <algorithm>

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
  Reader(const GivenFields& given, Problems& problems) : given_(given), problems_(problems) {}

  ModelConfig read(const inference::ModelConfig& message) {
    ModelConfig config;
    config.name = message.name();
    config.platform = message.platform();
    config.backend = read_backend(message);
    config.version_policy = read_version_policy(message.version_policy());
    config.max_batch_size = message.max_batch_size();
    for (int i = 0; i < message.input_size(); ++i) {
      config.inputs.push_back(read_input(message.input(i), fmt::format("input[{}]", i)));
    }
    for (const auto& output : message.output()) config.outputs.push_back(read_output(output));
    if (message.has_dynamic_batching()) {
      config.dynamic_batching = read_dynamic_batching(message.dynamic_batching());
    }
    for (const auto& group : message.instance_group()) {
      config.instance_groups.push_back(read_instance_group(group));
    }
    config.default_model_filename = message.default_model_filename();
    for (const auto& [key, value] : message.parameters()) {
      config.parameters[key] = value.string_value();
    }
    config.metric_tags.insert(message.metric_tags().begin(), message.metric_tags().end());
    config.histogram_buckets = read_metric_controls(message.model_metrics(), problems_);
    config.decoupled = message.model_transaction_policy().decoupled();
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

  Tensor read_input(const inference::ModelInput& message, const std::string& field) {
    Tensor tensor = read_tensor(message);
    if (!inference::ModelInput::Format_IsValid(message.format())) {
      problems_.add(field + ".format",
                    fmt::format("{} is the number of no format; write FORMAT_NONE,"
                                " FORMAT_NHWC or FORMAT_NCHW",
                                static_cast<int>(message.format())));
    } else {
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
    if (!inference::ModelQueuePolicy::TimeoutAction_IsValid(message.timeout_action())) {
      problems_.add(field + ".timeout_action",
                    fmt::format("{} is the number of no action; write REJECT or DELAY",
                                static_cast<int>(message.timeout_action())));
    } else {
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
    for (const auto& [level, policy] : message.priority_queue_policy()) {
      batching.priority_queue_policies[level] = read_queue_policy(
          policy, fmt::format("{}.priority_queue_policy[{}].value", field, level));
    }
    return batching;
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
};

}  // namespace

ModelConfig read_proto(const inference::ModelConfig& message, const GivenFields& given,
                       Problems& problems) {
  return Reader(given, problems).read(message);
}

}  // namespace proa::config
