#include "backends/python/python_backend.h"

#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "backends/python/environment.h"
#include "backends/python/python_model.h"
#include "backends/python/settings.h"
#include "base/log.h"
#include "config/parse.h"
#include "config/proto_writer.h"
#include "proto/json.h"
#include "proto/model_config.pb.h"

namespace proa::backends::python {
namespace {

namespace fs = std::filesystem;

std::string numbered(std::span<const config::Tensor> tensors) {
  std::string lines;
  for (const config::Tensor& tensor : tensors) {
    lines += fmt::format("{} {}\n", data_type_name(tensor.type), tensor.name);
  }
  return lines;
}

fs::path model_file(const core::ModelFiles& files, const config::ModelConfig& config) {
  return files.version_folder /
         (config.default_model_filename.empty() ? "model.py" : config.default_model_filename);
}

// Whether the file holds that text. Errors: kNotFound when there is no file.
Result<bool> mentions(const fs::path& file, std::string_view text) {
  std::error_code ignored;
  std::ifstream stream(file, std::ios::binary);
  if (!stream || !fs::is_regular_file(file, ignored)) {
    return error::not_found("there is no file '{}': put model.py there", file.native());
  }
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  return content.find(text) != std::string::npos;
}

// Adds what `completed` has more, in which nothing may have changed that was given.
Status take_over(const config::ModelConfig& completed, bool max_batch_size_given,
                 config::ModelConfig& config) {
  if (!max_batch_size_given) {
    config.max_batch_size = completed.max_batch_size;
  } else if (config.max_batch_size == 0 && completed.max_batch_size > 0) {
    return error::invalid_argument(
        "model '{}': the configuration says max_batch_size: 0, but auto_complete_config sets {}, "
        "with "
        "which every tensor has one dimension more: make them equal, or leave it out of the "
        "configuration",
        config.name, completed.max_batch_size);
  } else if (completed.max_batch_size != config.max_batch_size) {
    log::warn(
        "model '{}': max_batch_size stays {} as in its configuration; auto_complete_config sets {}",
        config.name, config.max_batch_size, completed.max_batch_size);
  }
  config.inputs = completed.inputs;
  config.outputs = completed.outputs;
  config.dynamic_batching = completed.dynamic_batching;
  config.decoupled = completed.decoupled;
  return {};
}

class PythonBackend final : public core::Backend {
 public:
  explicit PythonBackend(PythonOptions options) : options_(std::move(options)) {
    if (options_.memory == nullptr) options_.memory = SharedMemory::create();
  }

  std::string_view name() const override { return "python"; }

  Status complete_config(const core::ModelFiles& files, bool max_batch_size_given,
                         config::ModelConfig& config) override {
    // Starting a process takes a while.
    PROA_ASSIGN(const bool completes, mentions(model_file(files, config), "auto_complete_config"));
    if (!completes) return {};
    PROA_ASSIGN(const WorkerPlan plan, make_plan(files, config));
    PROA_ASSIGN(const std::string json, Session::complete(plan));
    if (json.empty()) return {};
    auto completed = config::parse_config_json(json, "what auto_complete_config returned");
    if (!completed) {
      return with_context(fmt::format("model '{}'", config.name), completed.error());
    }
    return take_over(completed->config, max_batch_size_given, config);
  }

  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles& files,
                                                  const config::ModelConfig& config) override {
    PROA_ASSIGN(WorkerPlan plan, make_plan(files, config));
    return std::make_unique<PythonModel>(std::move(plan));
  }

 private:
  Result<WorkerPlan> make_plan(const core::ModelFiles& files, const config::ModelConfig& config) {
    WorkerPlan plan;
    plan.config = config;
    PROA_ASSIGN(plan.settings, parse_settings(config));
    auto interpreter = find_python(files, plan.settings, archives_);
    if (!interpreter) {
      return with_context(fmt::format("model '{}'", config.name), interpreter.error());
    }
    plan.process = std::move(interpreter->process);
    plan.environment = std::move(interpreter->unpacked);
    const fs::path file = model_file(files, config);
    const auto exists = mentions(file, "");
    if (!exists) return with_context(fmt::format("model '{}'", config.name), exists.error());
    plan.arguments = {{"model_file", file.native()},
                      {"model_config", proto::to_json(config::to_proto(config))},
                      {"model_name", config.name},
                      {"model_version", std::to_string(files.version)},
                      {"model_repository", files.model_folder.native()},
                      {"inputs", numbered(config.inputs)},
                      {"outputs", numbered(config.outputs)},
                      {"decoupled", config.decoupled ? "1" : ""}};
    plan.memory = options_.memory;
    plan.timer = options_.timer;
    plan.clock = options_.clock;
    plan.models = options_.models;
    if (options_.metrics != nullptr) plan.metrics = options_.metrics->add_owner();
    return plan;
  }

  PythonOptions options_;
  PackedEnvironments archives_;
};

}  // namespace

std::unique_ptr<core::Backend> create_python_backend(PythonOptions options) {
  return std::make_unique<PythonBackend>(std::move(options));
}

}  // namespace proa::backends::python
