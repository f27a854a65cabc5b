#include "inspect.h"

#include <algorithm>
#include <cstdio>

#include "CLI/CLI.hpp"
#include "backends/cuda/import.h"
#include "backends/cuda/split.h"
#include "backends/openvino/description.h"
#include "base/check.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/timer.h"
#include "check_repository.h"
#include "config/proto_writer.h"
#include "config_draft.h"
#include "fmt/format.h"
#include "local_model.h"
#include "storage/local_folder.h"
#include "tensor/given_shape.h"

namespace proa {
namespace {

using backends::openvino::ModelDescription;
using backends::openvino::TensorSignature;

constexpr const char* kExamples =
    "PATH is a model file (.onnx, .xml, .tflite, .pdmodel, a SavedModel folder), a model's "
    "folder,\n"
    "or a repository of models.\n"
    "\n"
    "Examples:\n"
    "  proa inspect model.onnx\n"
    "  proa inspect model.onnx --config > repository/mine/config.pbtxt\n"
    "  proa inspect model.onnx --device cuda --shape x:3,640,640\n"
    "  proa inspect repository\n"
    "  proa inspect --check repository";

// 4694073 -> "4.69 M"
std::string short_number(double value) {
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g}{}", value, kUnits[unit]);
}

void print_tensors(const char* title, const std::vector<TensorSignature>& tensors) {
  std::size_t width = 0;
  for (const TensorSignature& tensor : tensors) width = std::max(width, tensor.name.size());
  fmt::print("{}\n", title);
  for (const TensorSignature& tensor : tensors) {
    fmt::print("  {:<{}}  {}\n", log::printable(tensor.name), width, tensor.to_string());
  }
}

// The most frequent first.
void print_operations(const ModelDescription& description) {
  std::vector<std::pair<std::string, int>> operations(description.operations.begin(),
                                                      description.operations.end());
  std::ranges::stable_sort(operations,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  int total = 0;
  for (const auto& [name, count] : operations) total += count;
  fmt::print("operations: {}\n", total);
  std::string line = " ";
  for (const auto& [name, count] : operations) {
    const std::string item = fmt::format(" {} {},", name, count);
    if (line.size() + item.size() > 96) {
      fmt::print("{}\n", line);
      line = " ";
    }
    line += item;
  }
  line.pop_back();
  fmt::print("{}\n", line);
}

void print_description(const std::filesystem::path& file, const ModelDescription& description) {
  fmt::print("{}: {}\n", file.string(), description.format);
  fmt::print("parameters: {} in {}B", short_number(static_cast<double>(description.parameters)),
             short_number(static_cast<double>(description.weight_bytes)));
  if (description.multiply_adds) {
    fmt::print(", {} multiply-adds for a batch of 1",
               short_number(static_cast<double>(*description.multiply_adds)));
  }
  fmt::print("\n");
  print_tensors("inputs", description.signature.inputs);
  print_tensors("outputs", description.signature.outputs);
  print_operations(description);
}

// What the model file is called in a repository, so that a server finds it without being told.
std::string repository_file_name(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return "model.savedmodel";
  return "model" + file.extension().string();
}

// The draft of a model file, with the way to use it; a model's folder has its configuration.
std::string draft_of(const LocalModel& model, ModelPathKind kind) {
  if (kind != ModelPathKind::kFile) return config::to_text(model.config);
  config::ModelConfig config = model.config;
  config.default_model_filename = repository_file_name(model.file);
  config.name.clear();
  return fmt::format("# REPOSITORY/NAME/config.pbtxt, for the model as REPOSITORY/NAME/1/{}\n{}",
                     config.default_model_filename, config_draft(config));
}

Status inspect_model(const InspectOptions& options, ModelPathKind kind,
                     const backends::BackendList& backends) {
  // What the file holds is worth showing even when it cannot be served.
  auto model = open_local_model(options.path, backends);
  if (options.config_only) {
    if (model) fmt::print("{}", draft_of(*model, kind));
    return model ? Status() : Status(std::move(model).error());
  }
  const std::filesystem::path file = model ? model->file : options.path;
  const bool readable = model ? model->config.backend == "openvino" : kind == ModelPathKind::kFile;
  if (readable) {
    PROA_ASSIGN(const ModelDescription description, backends::openvino::describe_model(file));
    print_description(file, description);
  }
  if (!model) return std::move(model).error();
  for (const std::string& warning : model->warnings) fmt::print("warning: {}\n", warning);
  fmt::print("\n{}", draft_of(*model, kind));
  return {};
}

// What of a model file the engine would run on a GPU.
Status inspect_for_gpu(const InspectOptions& options, ModelPathKind kind,
                       const backends::BackendList& backends) {
  std::filesystem::path file = options.path;
  if (kind != ModelPathKind::kFile) {
    PROA_ASSIGN(const LocalModel model, open_local_model(options.path, backends));
    file = model.file;
  }
  PROA_ASSIGN(const auto model, backends::cuda::read_model(file));
  std::map<std::string, Shape> shapes;
  for (const std::string& text : options.shapes) {
    PROA_ASSIGN(auto given, parse_given_shape(text));
    shapes[given.name] = given.shape;
  }
  PROA_TRY(backends::cuda::set_input_shapes(*model, shapes));
  PROA_ASSIGN(auto split, backends::cuda::split_model(model, {.processors = available_cpus()}));
  backends::openvino::Runtime runtime;
  PROA_TRY(backends::cuda::compile_cpu_parts(split, runtime, {.threads = available_cpus()}));
  fmt::print(
      "{}", options.json ? backends::cuda::report_json(split) : backends::cuda::report_text(split));
  return {};
}

// "input FP32 [-1,3,224,224], ..."
std::string short_tensors(const config::ModelConfig& config,
                          const std::vector<config::Tensor>& tensors) {
  std::string text;
  for (const config::Tensor& tensor : tensors) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", log::printable(tensor.name),
                        data_type_name(tensor.type), config.full_dims(tensor).to_string());
  }
  return text;
}

Status inspect_repository(const std::filesystem::path& path,
                          const backends::BackendList& backends) {
  PROA_ASSIGN(const auto repository, storage::LocalFolder::open(path));
  PROA_ASSIGN(const std::vector<std::string> names, repository.list_models());
  std::size_t failed = 0;
  for (const std::string& name : names) {
    const auto model = open_model_folder(path / name, backends);
    if (!model) {
      ++failed;
      fmt::print("{}: ERROR {}\n", log::printable(name), model.error().message);
      continue;
    }
    fmt::print("{} (backend {}, version {}, max_batch_size {})\n  in   {}\n  out  {}\n",
               log::printable(name), model->config.backend, model->files.version,
               model->config.max_batch_size, short_tensors(model->config, model->config.inputs),
               short_tensors(model->config, model->config.outputs));
  }
  if (failed > 0) {
    return error::invalid_argument("{} of {} models cannot be served", failed, names.size());
  }
  if (names.empty()) {
    return error::not_found(
        "{} holds no models: folders with a config.pbtxt or a folder 1 with "
        "the model file",
        path.string());
  }
  return {};
}

// kInvalidArgument when some model would not be served, after everything was printed.
Status check(const InspectOptions& options, ModelPathKind kind,
             const backends::BackendList& backends) {
  if (kind != ModelPathKind::kRepository) {
    return error::failed_precondition("--check wants a repository: the folder above {}",
                                      options.path.string());
  }
  PROA_ASSIGN(const std::vector<ModelCheck> models,
              check_repository(options.path, backends, options.completion));
  fmt::print("{}", options.json ? check_as_json(models) : check_as_text(models));
  const std::size_t failed = count_failed(models);
  if (failed == 0) return {};
  return error::invalid_argument("{} of {} models would not be served", failed, models.size());
}

Status inspect(const InspectOptions& options) {
  TimerThread timer;
  const backends::BackendList backends({.timer = &timer});
  PROA_ASSIGN(const ModelPathKind kind, classify_model_path(options.path));
  if (options.check) return check(options, kind, backends);
  if (options.cuda) {
    if (kind != ModelPathKind::kRepository) return inspect_for_gpu(options, kind, backends);
    return error::failed_precondition(
        "--device cuda wants a model file or a model's folder; {} is a repository",
        options.path.string());
  }
  if (kind == ModelPathKind::kRepository) {
    if (!options.config_only) return inspect_repository(options.path, backends);
    // The code that run_inspect() takes for wrong usage.
    return error::failed_precondition(
        "--config wants a model file or a model's folder; {} is a repository",
        options.path.string());
  }
  return inspect_model(options, kind, backends);
}

void add_check_flags(CLI::App& command, InspectOptions& options) {
  CLI::Option* check = command.add_flag(
      "--check", options.check,
      "Tell all problems of a repository's models and which versions would be served;\n"
      "status 1 when some model would not be");
  check->excludes("--config");
  command
      .add_flag("--gpu-models-on-cpu", options.completion.gpu_models_on_cpu, "As for proa serve")
      ->needs(check);
  command
      .add_flag(
          "--disable-auto-complete-config",
          [&options](std::int64_t) { options.completion.enabled = false; }, "As for proa serve")
      ->needs(check);
}

}  // namespace

CLI::App* add_inspect_command(CLI::App& app, InspectOptions& options) {
  CLI::App* command =
      app.add_subcommand("inspect", "Show what a model takes, gives and holds; draft its config");
  command->footer(kExamples);
  command->add_option("PATH", options.path, "Model file, model folder or repository")
      ->option_text("(required)")
      ->required();
  command
      ->add_option_function<std::string>(
          "--device", [&options](const std::string& device) { options.cuda = device == "cuda"; },
          "cuda: what would run on a GPU, and why the rest would not")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->option_text("cpu|cuda  (default cpu)");
  command
      ->add_option("--shape", options.shapes,
                   "With --device cuda: extents of an input that are open, without the batch; "
                   "repeatable")
      ->option_text("INPUT:3,640,640");
  command->add_flag("--json", options.json, "With --device cuda or --check: the same as JSON");
  command->add_flag("--config", options.config_only, "Print nothing but the config.pbtxt");
  add_check_flags(*command, options);
  return command;
}

int run_inspect(const InspectOptions& options) {
  PROA_CHECK(log::configure({.info = false}), "logging to stderr cannot fail");
  const Status status = inspect(options);
  std::fflush(stdout);
  if (status) return 0;
  fmt::print(stderr, "proa inspect: {}\n", status.error().message);
  return status.error().code == ErrorCode::kFailedPrecondition ? 2 : 1;
}

}  // namespace proa
