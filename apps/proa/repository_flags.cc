#include "repository_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace proa {
namespace {

using lifecycle::ControlMode;

constexpr const char* kGroup = "Models";
constexpr int kMaxPollSeconds = 86'400 * 365;

const std::map<std::string, ControlMode>& modes() {
  static const std::map<std::string, ControlMode> kModes = {{"none", ControlMode::kNone},
                                                            {"poll", ControlMode::kPoll},
                                                            {"explicit", ControlMode::kExplicit}};
  return kModes;
}

}  // namespace

void add_repository_flags(CLI::App& app, RepositoryFlags& flags) {
  app.add_option_function<std::string>(
         "--model-control-mode", [&](const std::string& name) { flags.mode = modes().at(name); },
         "When models are loaded: none = all at the start; poll = also as\ntheir files change; "
         "explicit = as clients ask")
      ->check(CLI::IsMember(modes()))
      ->option_text("none|poll|explicit  (default none)")
      ->group(kGroup);
  app.add_option_function<int>(
         "--repository-poll-secs",
         [&](int seconds) {
           flags.poll_s = seconds;
           flags.poll_given = true;
         },
         "poll: seconds between two looks at the files")
      ->check(CLI::Range(1, kMaxPollSeconds))
      ->option_text("N  (default 15)")
      ->group(kGroup);
  app.add_option(
         "--load-model", flags.load_models,
         "explicit: a model to load at the start; may be given several\ntimes; * alone = all")
      ->option_text("NAME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kGroup);
  app.add_option("--model-config-name", flags.config_name,
                 "Read configs/NAME.pbtxt where a model has it, instead of config.pbtxt")
      ->option_text("NAME")
      ->group(kGroup);
  app.add_option("--model-load-retry-count", flags.load_retries,
                 "How often a version that fails to load is tried again")
      ->check(CLI::Range(0, 1000))
      ->option_text("N  (default 0)")
      ->group(kGroup);
}

Status RepositoryFlags::check() const {
  const bool wildcard =
      std::ranges::find(load_models, lifecycle::ModelRepository::kEveryModel) != load_models.end();
  if (!load_models.empty() && mode != ControlMode::kExplicit) {
    return error::invalid_argument(
        "--load-model needs --model-control-mode=explicit: the other modes load every model");
  }
  if (wildcard && load_models.size() > 1) {
    return error::invalid_argument(
        "--load-model=* stands for every model and must be the only --load-model");
  }
  if (config_name.find('/') != std::string::npos || config_name == "..") {
    return error::invalid_argument(
        "--model-config-name={}: wanted the name of a file in the models' configs folders, without "
        ".pbtxt and '/'",
        config_name);
  }
  return {};
}

std::string RepositoryFlags::warning() const {
  if (!poll_given || mode == ControlMode::kPoll) return "";
  return "--repository-poll-secs has no effect without --model-control-mode=poll";
}

}  // namespace proa
