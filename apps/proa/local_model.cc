#include "local_model.h"

#include <system_error>

#include "config/complete.h"
#include "lifecycle/model_loader.h"
#include "storage/local_folder.h"
#include "storage/version_folders.h"

namespace proa {
namespace {

namespace fs = std::filesystem;

// Absolute, without "." and "..", without a slash at the end.
fs::path tidy(const fs::path& path) {
  fs::path result = fs::absolute(path).lexically_normal();
  if (!result.has_filename()) result = result.parent_path();
  return result;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has_version_folder(const fs::path& folder) {
  const auto versions = storage::list_versions(folder);
  return versions && !versions->versions.empty();
}

lifecycle::ModelLoader make_loader(const backends::BackendList& backends) {
  return lifecycle::ModelLoader(
      {.backends = [&](std::string_view name) { return backends.find(name); }});
}

}  // namespace

Result<ModelPathKind> classify_model_path(const fs::path& path) {
  if (!is_there(path)) return error::not_found("{}: no such file or folder", path.string());
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return ModelPathKind::kFile;
  if (is_there(path / "saved_model.pb") || is_there(path / "model.onnx"))
    return ModelPathKind::kFile;
  if (is_there(path / "config.pbtxt") || has_version_folder(path))
    return ModelPathKind::kModelFolder;
  return ModelPathKind::kRepository;
}

std::string model_name_of(const fs::path& file) {
  const fs::path path = tidy(file);
  if (path.stem() != "model") return path.stem();
  fs::path folder = path.parent_path();
  if (storage::parse_version(folder.filename().string())) folder = folder.parent_path();
  return folder.has_filename() ? folder.filename().string() : "model";
}

Result<LocalModel> open_model_file(const fs::path& path, const backends::BackendList& backends) {
  LocalModel model;
  model.file = tidy(path);
  model.files = {model.file.parent_path(), model.file.parent_path(), 1};
  PROA_ASSIGN(model.backend, backends.find("openvino"));
  config::ParsedConfig parsed;
  parsed.file = model.file.string();
  parsed.config.name = model_name_of(model.file);
  parsed.config.backend = model.backend->name();
  parsed.config.default_model_filename = model.file.filename();
  PROA_TRY(model.backend->complete_config(model.files, false, parsed.config));
  PROA_TRY(config::complete_rest({}, parsed));
  model.config = std::move(parsed.config);
  model.labels.resize(model.config.outputs.size());
  return model;
}

Result<LocalModel> open_model_folder(const fs::path& folder,
                                     const backends::BackendList& backends) {
  const fs::path path = tidy(folder);
  PROA_ASSIGN(const auto repository, storage::LocalFolder::open(path.parent_path()));
  PROA_ASSIGN(lifecycle::ModelPlan plan,
              make_loader(backends).plan(repository, path.filename().string()));
  if (plan.config.ensemble) {
    return error::invalid_argument(
        "{} is an ensemble and runs through other models: serve the repository with proa serve, "
        "and "
        "name the server with --url",
        path.string());
  }
  LocalModel model;
  const std::int64_t version = plan.versions.back();
  model.files = {plan.folder, plan.folder / std::to_string(version), version};
  model.backend = plan.backend;
  if (!plan.config.default_model_filename.empty()) {
    model.file = model.files.version_folder / plan.config.default_model_filename;
  }
  model.config = std::move(plan.config);
  model.labels = std::move(plan.labels);
  model.warnings = std::move(plan.warnings);
  return model;
}

Result<LocalModel> open_local_model(const fs::path& path, const backends::BackendList& backends) {
  PROA_ASSIGN(const ModelPathKind kind, classify_model_path(path));
  switch (kind) {
    case ModelPathKind::kFile:
      return open_model_file(path, backends);
    case ModelPathKind::kModelFolder:
      return open_model_folder(path, backends);
    case ModelPathKind::kRepository:
      break;
  }
  return error::invalid_argument(
      "{} is neither a model file nor a model's folder; name one of the models in it",
      path.string());
}

}  // namespace proa
