#include "config/validate.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "config/path_rules.h"
#include "config/warm_up_rules.h"
#include "proto/json_text.h"

namespace proa::config {
namespace {

// Of names that come from files and folders; scalar_rules.h looks at those that are stated.
void check_utf8(const std::string& name, const std::string& field, Problems& problems) {
  if (proto::valid_utf8_prefix(name) == name.size()) return;
  problems.add(field, fmt::format("the name '{}' is not UTF-8 text: rename it where it comes from",
                                  log::printable(name)));
}

void check_dims(const Tensor& tensor, const std::string& field, Problems& problems) {
  if (tensor.dims.empty()) {
    problems.add(field + ".dims",
                 "dims are missing: write one extent per dimension, -1 for any; a scalar is "
                 "dims: [ 1 ] with reshape { shape: [ ] }");
  }
  for (std::size_t i = 0; i < tensor.dims.rank(); ++i) {
    if (tensor.dims[i] >= 1 || tensor.dims[i] == Shape::kAny) continue;
    problems.add(
        fmt::format("{}.dims[{}]", field, i),
        fmt::format("{} is no extent; write a number from 1, or -1 for any", tensor.dims[i]));
  }
  if (tensor.format != Tensor::Format::kNone && tensor.dims.rank() != 3) {
    problems.add(field + ".format",
                 fmt::format("FORMAT_NHWC and FORMAT_NCHW name three dimensions, and dims has {}: "
                             "remove the format, or list dims without the batch dimension",
                             tensor.dims.rank()));
  }
}

// The products of the known extents between -1s: [2,3,-1,4] -> {6,4}. An overflow gives -1.
std::vector<std::int64_t> fixed_segments(const Shape& shape) {
  std::vector<std::int64_t> segments(1, 1);
  for (const std::int64_t dim : shape) {
    if (dim == Shape::kAny) {
      segments.push_back(1);
    } else if (__builtin_mul_overflow(segments.back(), dim, &segments.back())) {
      return {-1};
    }
  }
  return segments;
}

void check_reshape(const Tensor& tensor, const std::string& field, Problems& problems) {
  if (!tensor.reshape) return;
  const bool known = std::ranges::all_of(
      *tensor.reshape, [](std::int64_t dim) { return dim >= 1 || dim == Shape::kAny; });
  if (known && fixed_segments(tensor.dims) == fixed_segments(*tensor.reshape)) return;
  problems.add(
      field + ".reshape",
      fmt::format("shape {} has not the elements of dims {}: both need the same -1s in the "
                  "same order and the same number of elements between them",
                  tensor.reshape->to_string(), tensor.dims.to_string()));
}

void check_tensors(const std::vector<Tensor>& tensors, const std::string& list,
                   Problems& problems) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    const std::string field = fmt::format("{}[{}]", list, i);
    if (tensor.name.empty()) problems.add(field + ".name", "every tensor needs a name");
    if (!tensor.name.empty() && !names.insert(tensor.name).second) {
      problems.add(field + ".name", fmt::format("'{}' is the name of an earlier {} too: rename one",
                                                log::printable(tensor.name), list));
    }
    if (tensor.type == DataType::kInvalid) {
      problems.add(
          field + ".data_type",
          fmt::format(
              "the data type of '{}' is missing or unknown: write one, for example TYPE_FP32",
              log::printable(tensor.name)));
    }
    check_dims(tensor, field, problems);
    check_reshape(tensor, field, problems);
    check_stays_inside(tensor.label_filename, "the model's folder", field + ".label_filename",
                       problems);
  }
}

void check_preferred_sizes(const ModelConfig& config, bool max_batch_size_known,
                           Problems& problems) {
  const std::vector<std::int32_t>& sizes = config.dynamic_batching->preferred_batch_sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string field = fmt::format("dynamic_batching.preferred_batch_size[{}]", i);
    if (sizes[i] < 1) {
      problems.add(field, fmt::format("{} is no batch size; write a number from 1", sizes[i]));
    } else if (max_batch_size_known && sizes[i] > config.max_batch_size) {
      problems.add(field, fmt::format("{} is more than max_batch_size, {}: lower it, or raise "
                                      "max_batch_size",
                                      sizes[i], config.max_batch_size));
    }
  }
}

void check_priorities(const DynamicBatching& batching, Problems& problems) {
  const std::uint64_t levels = batching.priority_levels;
  if (levels > kMaxPriorityLevels) {
    problems.add("dynamic_batching.priority_levels",
                 fmt::format("{} levels are more than the most there can be, {}", levels,
                             kMaxPriorityLevels));
  }
  if (levels > 0 &&
      (batching.default_priority_level < 1 || batching.default_priority_level > levels)) {
    problems.add("dynamic_batching.default_priority_level",
                 fmt::format("{} is no level; with priority_levels: {} write a number from 1 to {}",
                             batching.default_priority_level, levels, levels));
  }
  for (const auto& [level, policy] : batching.priority_queue_policies) {
    if (level >= 1 && level <= levels) continue;
    problems.add(fmt::format("dynamic_batching.priority_queue_policy[{}]", level),
                 fmt::format("{} is no level; keys are numbers from 1 to priority_levels, which is "
                             "{}",
                             level, levels));
  }
}

void check_ordering(const DynamicBatching& batching, Problems& problems) {
  if (!batching.preserve_ordering) return;
  const std::string field = "dynamic_batching.preserve_ordering";
  if (batching.priority_levels > 1) {
    problems.add(field, fmt::format("it cannot hold with priority_levels: {}, which let later "
                                    "requests overtake: remove one of the two",
                                    batching.priority_levels));
  }
  const auto overtakes = [](const QueuePolicy& policy) {
    return policy.timeout_action == QueuePolicy::TimeoutAction::kDelay &&
           policy.default_timeout.count() > 0;
  };
  if (overtakes(batching.default_queue_policy) ||
      std::ranges::any_of(batching.priority_queue_policies,
                          [&](const auto& item) { return overtakes(item.second); })) {
    problems.add(field,
                 "it cannot hold with timeout_action: DELAY and a time-out, which put requests "
                 "behind later ones: use REJECT, or remove preserve_ordering");
  }
}

void check_instance_groups(const ModelConfig& config, Problems& problems) {
  for (std::size_t i = 0; i < config.instance_groups.size(); ++i) {
    const InstanceGroup& group = config.instance_groups[i];
    const std::string field = fmt::format("instance_group[{}]", i);
    if (group.count < 0 || group.count > kMaxInstances) {
      problems.add(field + ".count",
                   fmt::format("{} is no number of instances; write one from 1 to "
                               "{}",
                               group.count, kMaxInstances));
    }
    if (group.kind == InstanceGroup::Kind::kCpu && !group.gpus.empty()) {
      problems.add(field + ".gpus", "KIND_CPU instances run on no GPU: remove gpus");
    }
  }
}

void check_version_policy(const VersionPolicy& policy, Problems& problems) {
  if (policy.kind == VersionPolicy::Kind::kLatest && policy.latest_count == 0) {
    problems.add("version_policy.latest.num_versions",
                 "0 versions would serve nothing; write a number from 1");
  }
  if (policy.kind == VersionPolicy::Kind::kSpecific && policy.specific.empty()) {
    problems.add("version_policy.specific", "it lists no version: write versions: [ 1 ]");
  }
  for (std::size_t i = 0; i < policy.specific.size(); ++i) {
    if (policy.specific[i] >= 0) continue;
    problems.add(fmt::format("version_policy.specific.versions[{}]", i),
                 fmt::format("{} is no version; versions are numbers from 0", policy.specific[i]));
  }
}

// Keys become labels of metrics behind a "_", as Prometheus writes them.
void check_metric_tags(const ModelConfig& config, Problems& problems) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  for (const auto& [key, value] : config.metric_tags) {
    if (key.find_first_not_of(kLetters) == std::string::npos) continue;
    problems.add(fmt::format("metric_tags[{}]", log::printable(key)),
                 fmt::format("'{}' cannot be the name of a metric's label: write letters, digits "
                             "and _ only",
                             log::printable(key)));
  }
}

}  // namespace

void check_values(const ModelConfig& config, bool max_batch_size_known, Problems& problems) {
  if (config.max_batch_size < 0) {
    problems.add(
        "max_batch_size",
        fmt::format("{} is no batch size; write 0 for a model that does not batch, else the "
                    "largest batch it takes",
                    config.max_batch_size));
  }
  check_version_policy(config.version_policy, problems);
  check_tensors(config.inputs, "input", problems);
  check_tensors(config.outputs, "output", problems);
  if (config.dynamic_batching) {
    check_preferred_sizes(config, max_batch_size_known, problems);
    check_priorities(*config.dynamic_batching, problems);
    check_ordering(*config.dynamic_batching, problems);
  }
  check_instance_groups(config, problems);
  check_metric_tags(config, problems);
  check_warm_ups(config, problems);
}

void check_complete(const ModelConfig& config, Problems& problems) {
  if (config.name.empty())
    problems.add("name", "it is missing: write the name of the model's folder");
  check_utf8(config.name, "name", problems);
  for (const Tensor& tensor : config.inputs) check_utf8(tensor.name, "input", problems);
  for (const Tensor& tensor : config.outputs) check_utf8(tensor.name, "output", problems);
  if (config.backend.empty() && !config.ensemble) {
    problems.add("backend", "it is missing: write the name of a backend, for example \"openvino\"");
  }
  if (config.inputs.empty()) {
    problems.add("input", "the model has no inputs: list them, with name, data_type and dims");
  }
  if (config.outputs.empty()) {
    problems.add("output", "the model has no outputs: list them, with name, data_type and dims");
  }
  check_warm_ups_fit(config, problems);
}

}  // namespace proa::config
