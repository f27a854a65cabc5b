#include "config/proto_writer.h"

#include "config/metric_control.h"
#include "google/protobuf/text_format.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

template <class Message>
void write_tensor(const Tensor& tensor, Message& message) {
  message.set_name(tensor.name);
  message.set_data_type(static_cast<inference::DataType>(tensor.type));
  message.mutable_dims()->Add(tensor.dims.begin(), tensor.dims.end());
  if (tensor.reshape) {
    message.mutable_reshape()->mutable_shape()->Add(tensor.reshape->begin(), tensor.reshape->end());
  }
}

void write_version_policy(const VersionPolicy& policy, inference::ModelVersionPolicy& message) {
  switch (policy.kind) {
    case VersionPolicy::Kind::kLatest:
      message.mutable_latest()->set_num_versions(policy.latest_count);
      break;
    case VersionPolicy::Kind::kAll:
      message.mutable_all();
      break;
    case VersionPolicy::Kind::kSpecific:
      message.mutable_specific()->mutable_versions()->Add(policy.specific.begin(),
                                                          policy.specific.end());
      break;
  }
}

void write_queue_policy(const QueuePolicy& policy, inference::ModelQueuePolicy& message) {
  message.set_timeout_action(policy.timeout_action == QueuePolicy::TimeoutAction::kDelay
                                 ? inference::ModelQueuePolicy::DELAY
                                 : inference::ModelQueuePolicy::REJECT);
  message.set_default_timeout_microseconds(policy.default_timeout.count());
  message.set_allow_timeout_override(policy.allow_timeout_override);
  message.set_max_queue_size(policy.max_queue_size);
}

void write_dynamic_batching(const DynamicBatching& batching,
                            inference::ModelDynamicBatching& message) {
  message.mutable_preferred_batch_size()->Add(batching.preferred_batch_sizes.begin(),
                                              batching.preferred_batch_sizes.end());
  message.set_max_queue_delay_microseconds(batching.max_queue_delay.count());
  message.set_preserve_ordering(batching.preserve_ordering);
  message.set_priority_levels(batching.priority_levels);
  message.set_default_priority_level(batching.default_priority_level);
  write_queue_policy(batching.default_queue_policy, *message.mutable_default_queue_policy());
  for (const auto& [level, policy] : batching.priority_queue_policies) {
    write_queue_policy(policy, (*message.mutable_priority_queue_policy())[level]);
  }
}

inference::ModelInstanceGroup::Kind kind_of(InstanceGroup::Kind kind) {
  switch (kind) {
    case InstanceGroup::Kind::kAuto:
      return inference::ModelInstanceGroup::KIND_AUTO;
    case InstanceGroup::Kind::kCpu:
      return inference::ModelInstanceGroup::KIND_CPU;
    case InstanceGroup::Kind::kGpu:
      return inference::ModelInstanceGroup::KIND_GPU;
    case InstanceGroup::Kind::kModel:
      return inference::ModelInstanceGroup::KIND_MODEL;
  }
  return inference::ModelInstanceGroup::KIND_AUTO;
}

void write_instance_group(const InstanceGroup& group, inference::ModelInstanceGroup& message) {
  message.set_name(group.name);
  message.set_kind(kind_of(group.kind));
  message.set_count(group.count);
  message.mutable_gpus()->Add(group.gpus.begin(), group.gpus.end());
}

}  // namespace

inference::ModelConfig to_proto(const ModelConfig& config) {
  inference::ModelConfig message;
  message.set_name(config.name);
  message.set_platform(config.platform);
  message.set_backend(config.backend);
  write_version_policy(config.version_policy, *message.mutable_version_policy());
  message.set_max_batch_size(config.max_batch_size);
  for (const Tensor& tensor : config.inputs) {
    inference::ModelInput& input = *message.add_input();
    write_tensor(tensor, input);
    input.set_format(static_cast<inference::ModelInput::Format>(tensor.format));
    input.set_optional(tensor.optional);
    input.set_allow_ragged_batch(tensor.allow_ragged_batch);
  }
  for (const Tensor& tensor : config.outputs) {
    inference::ModelOutput& output = *message.add_output();
    write_tensor(tensor, output);
    output.set_label_filename(tensor.label_filename);
  }
  if (config.dynamic_batching) {
    write_dynamic_batching(*config.dynamic_batching, *message.mutable_dynamic_batching());
  }
  for (const InstanceGroup& group : config.instance_groups) {
    write_instance_group(group, *message.add_instance_group());
  }
  message.set_default_model_filename(config.default_model_filename);
  for (const auto& [key, value] : config.parameters) {
    (*message.mutable_parameters())[key].set_string_value(value);
  }
  message.mutable_metric_tags()->insert(config.metric_tags.begin(), config.metric_tags.end());
  write_metric_controls(config.histogram_buckets, message);
  if (config.decoupled) message.mutable_model_transaction_policy()->set_decoupled(true);
  return message;
}

std::string to_text(const ModelConfig& config) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(to_proto(config), &text);
  // protobuf leaves zeros out; this one would be completed when it is read again.
  if (config.max_batch_size == 0) text += "max_batch_size: 0\n";
  return text;
}

}  // namespace proa::config
