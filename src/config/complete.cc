#include "config/complete.h"

#include <algorithm>

#include "base/log.h"
#include "config/backend_names.h"
#include "config/problems.h"
#include "config/validate.h"
#include "fmt/ranges.h"

namespace proa::config {
namespace {

// Names as a person reads them, at most a few.
std::string listed(std::span<const std::string> files) {
  constexpr std::size_t kShown = 5;
  if (files.empty()) return "nothing";
  std::string text;
  for (const std::string& file : files.first(std::min(files.size(), kShown))) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", log::printable(file));
  }
  if (files.size() > kShown) text += " and more";
  return text;
}

bool contains(std::span<const std::string> files, std::string_view name) {
  return std::ranges::find(files, name) != files.end();
}

Status set_backend(std::string_view triton_name, ParsedConfig& parsed) {
  PROA_ASSIGN(parsed.config.backend, resolve_backend_name(triton_name));
  return {};
}

// "model.identity", or a model called "anything.identity".
std::string backend_in_name(std::string_view model, std::span<const std::string> files) {
  if (files.size() == 1 && files[0].starts_with("model.")) return files[0].substr(6);
  const std::size_t dot = model.find('.');
  return dot == std::string_view::npos ? std::string() : std::string(model.substr(dot + 1));
}

Status complete_backend(std::span<const std::string> files, ParsedConfig& parsed) {
  ModelConfig& config = parsed.config;
  if (!config.default_model_filename.empty()) {
    const std::string_view backend = backend_of_model_file(config.default_model_filename);
    if (!backend.empty()) return set_backend(backend, parsed);
  }
  const std::string file = find_model_file(files);
  if (!file.empty()) {
    const Status set = set_backend(backend_of_model_file(file), parsed);
    if (!set) return with_context(fmt::format("'{}'", file), set.error());
    config.default_model_filename = file;
    return {};
  }
  const std::string backend = backend_in_name(config.name, files);
  if (!backend.empty()) {
    PROA_TRY(set_backend(backend, parsed));
    if (config.default_model_filename.empty()) {
      config.default_model_filename = "model." + backend;
    }
    return {};
  }
  return error::invalid_argument(
      "{}: backend: nothing tells how to run the model: its version folder holds {}; put a "
      "model.onnx, model.xml, model.savedmodel or model.tflite there, or set backend",
      parsed.file, listed(files));
}

void complete_file(std::span<const std::string> files, ParsedConfig& parsed) {
  ModelConfig& config = parsed.config;
  // What the author called the backend tells the kind of file best.
  const std::vector<std::string_view> usual = default_model_files(parsed.stated_backend);
  for (const std::string_view name : usual) {
    if (contains(files, name)) {
      config.default_model_filename = name;
      return;
    }
  }
  if (usual.empty()) return;
  const std::string only = find_model_file(files);
  config.default_model_filename = only.empty() ? std::string(usual.front()) : only;
}

// Which of the two backends for trained models it is.
void choose_device(const CompletionOptions& options, ParsedConfig& parsed) {
  ModelConfig& config = parsed.config;
  bool gpu = false;
  for (std::size_t i = 0; i < config.instance_groups.size(); ++i) {
    InstanceGroup& group = config.instance_groups[i];
    if (group.kind != InstanceGroup::Kind::kGpu) continue;
    if (!options.gpu_models_on_cpu) {
      gpu = true;
      continue;
    }
    parsed.warnings.push_back(
        fmt::format("instance_group[{}] is of KIND_GPU and runs on the CPU, as was asked for", i));
    group.kind = InstanceGroup::Kind::kCpu;
    group.gpus.clear();
  }
  if (gpu && config.backend == "openvino") config.backend = "cuda";
  if (options.gpu_models_on_cpu && config.backend == "cuda") config.backend = "openvino";
}

void complete_instance_groups(ParsedConfig& parsed) {
  ModelConfig& config = parsed.config;
  // Named as in Triton: a group that nobody wrote like the model, others by number.
  if (config.instance_groups.empty()) config.instance_groups.emplace_back().name = config.name;
  for (std::size_t i = 0; i < config.instance_groups.size(); ++i) {
    InstanceGroup& group = config.instance_groups[i];
    if (group.name.empty()) group.name = fmt::format("{}_{}", config.name, i);
    if (group.count == 0) group.count = 1;
    if (group.kind != InstanceGroup::Kind::kAuto) continue;
    group.kind = config.backend == "cuda" ? InstanceGroup::Kind::kGpu : InstanceGroup::Kind::kCpu;
    if (group.gpus.empty() || group.kind == InstanceGroup::Kind::kGpu) continue;
    parsed.warnings.push_back(
        fmt::format("instance_group[{}].gpus has no effect: KIND_AUTO means the CPU unless backend "
                    "is \"cuda\"; "
                    "write KIND_GPU to run the model on a GPU",
                    i));
    group.gpus.clear();
  }
}

// Triton runs larger batches than the model has; here they would be refused.
void fit_warm_ups(ParsedConfig& parsed) {
  const std::int32_t most = std::max(1, parsed.config.max_batch_size);
  for (std::size_t i = 0; i < parsed.config.warm_ups.size(); ++i) {
    std::int32_t& batch_size = parsed.config.warm_ups[i].batch_size;
    if (batch_size <= most) continue;
    parsed.warnings.push_back(
        fmt::format("model_warmup[{}].batch_size: {} becomes {}, because max_batch_size is {}", i,
                    batch_size, most, parsed.config.max_batch_size));
    batch_size = most;
  }
}

}  // namespace

Status complete_from_folder(std::string_view folder_name, std::span<const std::string> files,
                            const CompletionOptions& options, ParsedConfig& parsed) {
  ModelConfig& config = parsed.config;
  if (config.name.empty() && options.enabled) config.name = folder_name;
  if (!config.name.empty() && config.name != folder_name) {
    Problems problems;
    problems.add("name",
                 fmt::format("'{}' is not the name of the model's folder, '{}': write that, "
                             "or remove the field",
                             log::printable(config.name), log::printable(folder_name)));
    return problems.to_status(parsed.file, parsed.given);
  }
  if (config.ensemble) return {};  // its steps have backends and files
  if (config.backend.empty()) {
    if (options.enabled) PROA_TRY(complete_backend(files, parsed));
  } else if (config.default_model_filename.empty()) {
    complete_file(files, parsed);
  }
  choose_device(options, parsed);
  return {};
}

bool max_batch_size_decided(const CompletionOptions& options, const ParsedConfig& parsed) {
  return parsed.given.contains("max_batch_size") || options.default_max_batch_size == 0;
}

Status complete_rest(const CompletionOptions& options, ParsedConfig& parsed) {
  ModelConfig& config = parsed.config;
  // model.py names its size itself; of others it is only known that they can batch.
  const bool by_file = !config.ensemble && config.backend != "python";
  if (by_file && !max_batch_size_decided(options, parsed) && config.max_batch_size > 0) {
    config.max_batch_size = options.default_max_batch_size;
    if (!parsed.given.contains("dynamic_batching")) {
      config.dynamic_batching.reset();
      if (config.max_batch_size > 1) config.dynamic_batching.emplace();
    }
  }
  if (config.dynamic_batching) std::ranges::sort(config.dynamic_batching->preferred_batch_sizes);
  if (!config.ensemble) complete_instance_groups(parsed);
  fit_warm_ups(parsed);
  Problems problems;
  check_values(config, true, problems);
  check_complete(config, problems);
  return problems.to_status(parsed.file, parsed.given);
}

}  // namespace proa::config
