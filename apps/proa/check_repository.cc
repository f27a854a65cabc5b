#include "check_repository.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "lifecycle/model_loader.h"
#include "proto/json_text.h"
#include "storage/local_folder.h"

namespace proa {
namespace {

// Problems of one configuration come as lines of one error.
void add_errors(const Error& error, std::vector<std::string>& errors) {
  for (const std::string_view line : split_lines(error.message)) errors.emplace_back(line);
}

// The plan has read the newest version; the others must fit the same configuration.
void check_older_versions(const lifecycle::ModelPlan& plan, ModelCheck& check) {
  for (std::size_t i = 0; i + 1 < plan.versions.size(); ++i) {
    const std::int64_t version = plan.versions[i];
    config::ModelConfig config = plan.config;
    const Status fits = plan.backend->complete_config(
        {plan.folder, plan.folder / std::to_string(version), version}, true, config);
    if (!fits)
      add_errors(with_context(fmt::format("version {}", version), fits.error()), check.errors);
  }
}

ModelCheck check_model(const storage::LocalFolder& repository, const std::string& name,
                       const lifecycle::ModelLoader& loader) {
  ModelCheck check;
  check.name = name;
  Result<lifecycle::ModelPlan> plan = loader.plan(repository, name);
  if (!plan) {
    add_errors(plan.error(), check.errors);
    return check;
  }
  check_older_versions(*plan, check);
  check.warnings = std::move(plan->warnings);
  check.backend = plan->config.backend;
  check.max_batch_size = plan->config.max_batch_size;
  check.versions = std::move(plan->versions);
  return check;
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ',';
    proto::append_json_string(json, text);
  }
  return json + ']';
}

}  // namespace

Result<std::vector<ModelCheck>> check_repository(const std::filesystem::path& path,
                                                 const backends::BackendList& backends,
                                                 const config::CompletionOptions& completion) {
  PROA_ASSIGN(const auto repository, storage::LocalFolder::open(path));
  PROA_ASSIGN(const std::vector<std::string> names, repository.list_models());
  if (names.empty()) {
    return error::not_found(
        "{} holds no models: folders with a config.pbtxt or a folder 1 with the model file",
        path.string());
  }
  const lifecycle::ModelLoader loader(
      {.backends = [&](std::string_view name) { return backends.find(name); },
       .completion = completion});
  std::vector<ModelCheck> checks;
  for (const std::string& name : names) checks.push_back(check_model(repository, name, loader));
  return checks;
}

std::size_t count_failed(const std::vector<ModelCheck>& models) {
  return static_cast<std::size_t>(
      std::ranges::count_if(models, [](const ModelCheck& check) { return !check.errors.empty(); }));
}

std::string check_as_text(const std::vector<ModelCheck>& models) {
  std::string text;
  for (const ModelCheck& check : models) {
    if (check.errors.empty()) {
      text += fmt::format("{}: ok: version{} {}, backend {}, max_batch_size {}\n",
                          log::printable(check.name), check.versions.size() == 1 ? "" : "s",
                          fmt::join(check.versions, ", "), check.backend, check.max_batch_size);
    } else {
      text += fmt::format("{}: ERROR: would not be served\n", log::printable(check.name));
    }
    for (const std::string& line : check.errors) {
      text += fmt::format("  {}\n", log::printable(line));
    }
    for (const std::string& line : check.warnings) {
      text += fmt::format("  warning: {}\n", log::printable(line));
    }
  }
  if (count_failed(models) == 0) {
    text +=
        fmt::format("{} model{} would be served\n", models.size(), models.size() == 1 ? "" : "s");
  }
  return text;
}

std::string check_as_json(const std::vector<ModelCheck>& models) {
  std::string json = "{\"models\":[";
  for (const ModelCheck& check : models) {
    if (!json.ends_with('[')) json += ',';
    json += "{\"name\":";
    proto::append_json_string(json, check.name);
    json += fmt::format(",\"ok\":{},\"errors\":{},\"warnings\":{}", check.errors.empty(),
                        json_strings(check.errors), json_strings(check.warnings));
    if (check.errors.empty()) {
      json += ",\"backend\":";
      proto::append_json_string(json, check.backend);
      json += fmt::format(",\"max_batch_size\":{},\"versions\":[{}]", check.max_batch_size,
                          fmt::join(check.versions, ","));
    }
    json += '}';
  }
  return json + fmt::format("],\"failed\":{}}}\n", count_failed(models));
}

}  // namespace proa
