#include "config/proto_writer.h"

#include <limits>
#include <string>

#include "config/metric_control.h"
#include "google/protobuf/text_format.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

template <class Message>
void write_tensor(const Tensor& tensor, Message& message) {
  message.set_name(tensor.name);
  message.set_data_type(static_cast<inference::DataType>(tensor.type));
  message.mutable_dims()->Assign(tensor.dims.begin(), tensor.dims.end());
  message.clear_reshape();
  if (tensor.reshape) {
    message.mutable_reshape()->mutable_shape()->Add(tensor.reshape->begin(), tensor.reshape->end());
  }
}

void write_version_policy(const VersionPolicy& policy, inference::ModelVersionPolicy& message) {
  message.Clear();
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
  message.mutable_preferred_batch_size()->Assign(batching.preferred_batch_sizes.begin(),
                                                 batching.preferred_batch_sizes.end());
  message.set_max_queue_delay_microseconds(batching.max_queue_delay.count());
  message.set_preserve_ordering(batching.preserve_ordering);
  message.set_priority_levels(batching.priority_levels);
  message.set_default_priority_level(batching.default_priority_level);
  if (message.has_default_queue_policy() || batching.default_queue_policy != QueuePolicy()) {
    write_queue_policy(batching.default_queue_policy, *message.mutable_default_queue_policy());
  }
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
  message.mutable_gpus()->Assign(group.gpus.begin(), group.gpus.end());
}

void write_warm_up(const WarmUp& warm_up, inference::ModelWarmup& message) {
  message.set_name(warm_up.name);
  message.set_batch_size(warm_up.batch_size);
  message.set_count(warm_up.count);
  for (const auto& [name, input] : warm_up.inputs) {
    inference::ModelWarmup::Input& written = (*message.mutable_inputs())[name];
    written.set_data_type(static_cast<inference::DataType>(input.type));
    written.mutable_dims()->Add(input.dims.begin(), input.dims.end());
    if (input.data == WarmUp::Data::kZero) written.set_zero_data(true);
    if (input.data == WarmUp::Data::kRandom) written.set_random_data(true);
    if (input.data == WarmUp::Data::kFile) written.set_input_data_file(input.file);
  }
}

// The element for `values[index]`: the stated one, for its fields that have no struct here, or a
// new one. Completion appends to what is stated.
template <class Message>
Message& element(google::protobuf::RepeatedPtrField<Message>& field, std::size_t index) {
  return index < static_cast<std::size_t>(field.size()) ? *field.Mutable(static_cast<int>(index))
                                                        : *field.Add();
}

void write_ensemble(const Ensemble& ensemble, inference::ModelEnsembling& message) {
  message.set_max_inflight_requests(ensemble.max_inflight_requests);
  for (std::size_t i = 0; i < ensemble.steps.size(); ++i) {
    const Ensemble::Step& step = ensemble.steps[i];
    inference::ModelEnsembling::Step& written = element(*message.mutable_step(), i);
    written.set_model_name(step.model);
    written.set_model_version(step.version);
    written.clear_input_map();
    written.mutable_input_map()->insert(step.inputs.begin(), step.inputs.end());
    written.clear_output_map();
    written.mutable_output_map()->insert(step.outputs.begin(), step.outputs.end());
  }
}

void write_tensors(const ModelConfig& config, inference::ModelConfig& message) {
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    const Tensor& tensor = config.inputs[i];
    inference::ModelInput& input = element(*message.mutable_input(), i);
    write_tensor(tensor, input);
    input.set_format(static_cast<inference::ModelInput::Format>(tensor.format));
    input.set_optional(tensor.optional);
    input.set_allow_ragged_batch(tensor.allow_ragged_batch);
  }
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    inference::ModelOutput& output = element(*message.mutable_output(), i);
    write_tensor(config.outputs[i], output);
    output.set_label_filename(config.outputs[i].label_filename);
  }
}

// Prints a number that stands for zero as zero.
class PrintedZero final : public google::protobuf::TextFormat::FastFieldValuePrinter {
 public:
  static constexpr std::int64_t kStandIn = std::numeric_limits<std::int64_t>::min();
  void PrintInt64(std::int64_t number,
                  google::protobuf::TextFormat::BaseTextGenerator* text) const override {
    text->PrintString(std::to_string(number == kStandIn ? 0 : number));
  }
};

}  // namespace

inference::ModelConfig to_proto(const ModelConfig& config) {
  inference::ModelConfig message;
  if (config.stated != nullptr) message = *config.stated;
  message.set_name(config.name);
  message.set_platform(config.platform);
  // Under the name that the author gave it, which means the same.
  if (message.backend().empty()) message.set_backend(config.backend);
  write_version_policy(config.version_policy, *message.mutable_version_policy());
  message.set_max_batch_size(config.max_batch_size);
  write_tensors(config, message);
  if (!config.dynamic_batching) message.clear_dynamic_batching();
  if (config.dynamic_batching) {
    write_dynamic_batching(*config.dynamic_batching, *message.mutable_dynamic_batching());
  }
  if (config.ensemble) write_ensemble(*config.ensemble, *message.mutable_ensemble_scheduling());
  for (std::size_t i = 0; i < config.instance_groups.size(); ++i) {
    write_instance_group(config.instance_groups[i], element(*message.mutable_instance_group(), i));
  }
  message.clear_model_warmup();
  for (const WarmUp& warm_up : config.warm_ups) write_warm_up(warm_up, *message.add_model_warmup());
  message.set_default_model_filename(config.default_model_filename);
  message.clear_parameters();
  for (const auto& [key, value] : config.parameters) {
    (*message.mutable_parameters())[key].set_string_value(value);
  }
  message.clear_metric_tags();
  message.mutable_metric_tags()->insert(config.metric_tags.begin(), config.metric_tags.end());
  message.clear_model_metrics();
  write_metric_controls(config.histogram_buckets, message);
  if (config.decoupled || config.ensemble) {
    message.mutable_model_transaction_policy()->set_decoupled(config.decoupled);
  }
  return message;
}

std::string to_text(const ModelConfig& config) {
  inference::ModelConfig message = to_proto(config);
  // protobuf leaves zeros out. Those of steps would mean the latest version when they are read
  // again: another number stands for them.
  if (message.has_ensemble_scheduling()) {
    for (auto& step : *message.mutable_ensemble_scheduling()->mutable_step()) {
      if (step.model_version() == 0) step.set_model_version(PrintedZero::kStandIn);
    }
  }
  google::protobuf::TextFormat::Printer printer;
  const auto* version =
      inference::ModelEnsembling::Step::descriptor()->FindFieldByName("model_version");
  printer.RegisterFieldValuePrinter(version, new PrintedZero);  // which it owns from now on
  std::string text;
  printer.PrintToString(message, &text);
  // This one would be completed.
  if (config.max_batch_size == 0) text += "max_batch_size: 0\n";
  return text;
}

}  // namespace proa::config
