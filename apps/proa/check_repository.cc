#include "check_repository.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/log.h"
#include "base/text.h"
#include "config/ensemble_fit.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "lifecycle/model_loader.h"
#include "lifecycle/step_loads.h"
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
  if (plan.backend == nullptr) return;  // an ensemble: its versions have no files
  for (std::size_t i = 0; i + 1 < plan.versions.size(); ++i) {
    const std::int64_t version = plan.versions[i];
    config::ModelConfig config = plan.config;
    const Status fits = plan.backend->complete_config(
        {plan.folder, plan.folder / std::to_string(version), version}, true, config);
    if (!fits)
      add_errors(with_context(fmt::format("version {}", version), fits.error()), check.errors);
  }
}

// The models of a repository that can be read, by name.
using Configs = std::map<std::string, config::ModelConfig>;

// The step's model, if it is there in that version.
Result<const config::ModelConfig*> find_step(const config::Ensemble::Step& step,
                                             const std::vector<ModelCheck>& checks,
                                             const Configs& configs) {
  const auto check = std::ranges::find(checks, step.model, &ModelCheck::name);
  if (check == checks.end()) {
    return error::not_found("model '{}' is not in the repository", step.model);
  }
  const auto found = configs.find(step.model);
  if (found == configs.end()) {
    return error::unavailable("model '{}' would not be served", step.model);
  }
  const std::vector<std::int64_t>& versions = check->versions;
  if (step.version != config::Ensemble::kLatest &&
      std::ranges::find(versions, step.version) == versions.end()) {
    return error::not_found("version {} of model '{}' would not be served, only {}", step.version,
                            step.model, fmt::join(versions, ", "));
  }
  return &found->second;
}

Status check_steps(const config::ModelConfig& ensemble, const std::vector<ModelCheck>& checks,
                   const Configs& configs) {
  std::vector<const config::ModelConfig*> steps;
  for (const config::Ensemble::Step& step : ensemble.ensemble->steps) {
    auto found = find_step(step, checks, configs);
    if (!found) {
      return with_context(fmt::format("ensemble_scheduling.step[{}]", steps.size()), found.error());
    }
    steps.push_back(*found);
  }
  return config::check_steps_fit(ensemble, steps);
}

// Ensembles against the models of their steps. One that fails takes those with it that it is a step
// of, so all are asked until nothing changes.
void check_ensembles(Configs configs, std::vector<ModelCheck>& checks) {
  lifecycle::StepLoads graph;
  for (const auto& [name, config] : configs) {
    std::set<std::string> steps;
    if (!config.ensemble) continue;
    for (const auto& step : config.ensemble->steps) steps.insert(step.model);
    graph.set_steps(name, std::move(steps), false);
  }
  for (bool again = true; again;) {
    again = false;
    for (ModelCheck& check : checks) {
      const auto config = configs.find(check.name);
      if (config == configs.end() || !config->second.ensemble) continue;
      Status status = graph.check_circle(check.name);
      if (status) status = check_steps(config->second, checks, configs);
      if (status) continue;
      add_errors(status.error(), check.errors);
      configs.erase(config);
      again = true;
    }
  }
}

ModelCheck check_model(const storage::LocalFolder& repository, const std::string& name,
                       const lifecycle::ModelLoader& loader, Configs& configs) {
  ModelCheck check;
  check.name = name;
  Result<lifecycle::ModelPlan> plan = loader.plan(repository, name);
  if (!plan) {
    add_errors(plan.error(), check.errors);
    return check;
  }
  check_older_versions(*plan, check);
  check.warnings = std::move(plan->warnings);
  check.backend = plan->config.ensemble ? config::kEnsemblePlatform : plan->config.backend;
  check.max_batch_size = plan->config.max_batch_size;
  check.versions = std::move(plan->versions);
  if (check.errors.empty()) configs.emplace(name, std::move(plan->config));
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
  Configs configs;
  for (const std::string& name : names) {
    checks.push_back(check_model(repository, name, loader, configs));
  }
  check_ensembles(std::move(configs), checks);
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
