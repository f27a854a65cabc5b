#include "frontends/model_messages.h"

#include <string>

#include "core/statistics.h"

namespace proa::frontends {
namespace {

void set_tensor(const config::ModelConfig& config, const config::Tensor& tensor,
                inference::ModelMetadataResponse::TensorMetadata& message) {
  message.set_name(tensor.name);
  message.set_datatype(std::string(data_type_name(tensor.type)));
  for (const std::int64_t dim : config.full_dims(tensor)) message.add_shape(dim);
}

void set_duration(const core::CountedTime& time, inference::StatisticDuration& message) {
  message.set_count(time.count);
  message.set_ns(time.ns);
}

}  // namespace

inference::ModelMetadataResponse metadata_message(const config::ModelConfig& config,
                                                  std::span<const std::int64_t> versions) {
  inference::ModelMetadataResponse message;
  message.set_name(config.name);
  for (const std::int64_t version : versions) message.add_versions(std::to_string(version));
  message.set_platform(config.platform.empty() ? config.backend : config.platform);
  for (const auto& input : config.inputs) set_tensor(config, input, *message.add_inputs());
  for (const auto& output : config.outputs) set_tensor(config, output, *message.add_outputs());
  return message;
}

inference::ModelStatistics statistics_message(const core::Model& model) {
  const core::StatisticsSnapshot snapshot = model.statistics().snapshot();
  inference::ModelStatistics message;
  message.set_name(model.name());
  message.set_version(model.version_string());
  message.set_last_inference(snapshot.last_inference_ms);
  message.set_inference_count(snapshot.inference_count);
  message.set_execution_count(snapshot.execution_count);
  inference::InferStatistics& stats = *message.mutable_inference_stats();
  set_duration(snapshot.success, *stats.mutable_success());
  set_duration(snapshot.fail, *stats.mutable_fail());
  set_duration(snapshot.queue, *stats.mutable_queue());
  set_duration(snapshot.compute_input, *stats.mutable_compute_input());
  set_duration(snapshot.compute_infer, *stats.mutable_compute_infer());
  set_duration(snapshot.compute_output, *stats.mutable_compute_output());
  set_duration({}, *stats.mutable_cache_hit());
  set_duration({}, *stats.mutable_cache_miss());
  for (const auto& [size, times] : snapshot.batch_sizes) {
    inference::InferBatchStatistics& batch = *message.add_batch_stats();
    batch.set_batch_size(static_cast<std::uint64_t>(size));
    set_duration(times.compute_input, *batch.mutable_compute_input());
    set_duration(times.compute_infer, *batch.mutable_compute_infer());
    set_duration(times.compute_output, *batch.mutable_compute_output());
  }
  return message;
}

}  // namespace proa::frontends
