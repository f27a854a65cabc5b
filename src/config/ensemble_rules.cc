#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/log.h"
#include "config/message_rules.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

constexpr std::string_view kPlatform = "ensemble";

std::string step_field(int step) { return fmt::format("ensemble_scheduling.step[{}]", step); }

// The tensors that flow between the steps of an ensemble.
class TensorGraph {
 public:
  TensorGraph(const inference::ModelConfig& message, Problems& problems)
      : message_(message), steps_(message.ensemble_scheduling()), problems_(problems) {
    for (const auto& input : message.input()) writer_[input.name()] = kRequest;
    for (int i = 0; i < steps_.step_size(); ++i) add_outputs(i);
    for (const auto& output : message.output()) read_.insert(output.name());
    for (const auto& step : steps_.step()) {
      for (const auto& [own, name] : step.input_map()) read_.insert(name);
    }
  }

  void check() {
    check_written();
    check_read();
    check_order();
  }

 private:
  static constexpr int kRequest = -1;  // written by the ensemble's own input

  void add_outputs(int step) {
    for (const auto& [own, name] : std::map<std::string, std::string>(
             steps_.step(step).output_map().begin(), steps_.step(step).output_map().end())) {
      if (writer_.emplace(name, step).second) continue;
      problems_.add(fmt::format("{}.output_map[{}]", step_field(step), log::printable(own)),
                    fmt::format("tensor '{}' is written by {} too: give one of them another name",
                                log::printable(name),
                                writer_[name] == kRequest ? "an input of the ensemble"
                                                          : step_field(writer_[name])));
    }
  }

  void check_written() {
    for (int i = 0; i < steps_.step_size(); ++i) {
      for (const auto& [own, name] : steps_.step(i).input_map()) {
        if (writer_.contains(name)) continue;
        problems_.add(fmt::format("{}.input_map[{}]", step_field(i), log::printable(own)),
                      fmt::format("tensor '{}' is written by no step and is no input of the "
                                  "ensemble: correct the name",
                                  log::printable(name)));
      }
    }
    for (int i = 0; i < message_.output_size(); ++i) {
      const std::string& name = message_.output(i).name();
      if (writer_.contains(name)) continue;
      problems_.add(fmt::format("output[{}]", i),
                    fmt::format("tensor '{}' is written by no step: name it in an output_map, or "
                                "remove the output",
                                log::printable(name)));
    }
  }

  void check_read() {
    for (const auto& [name, step] : writer_) {
      if (read_.contains(name)) continue;
      problems_.add(step == kRequest ? "input" : step_field(step) + ".output_map",
                    fmt::format("tensor '{}' is used by no step and is no output of the ensemble: "
                                "use it, or remove it",
                                log::printable(name)));
    }
  }

  // Takes away steps whose inputs are there until none is left, or those of a circle.
  void check_order() {
    std::vector<bool> done(static_cast<std::size_t>(steps_.step_size()), false);
    for (bool more = true; more;) {
      more = false;
      for (int i = 0; i < steps_.step_size(); ++i) {
        if (done[static_cast<std::size_t>(i)] || !inputs_done(i, done)) continue;
        done[static_cast<std::size_t>(i)] = true;
        more = true;
      }
    }
    for (int i = 0; i < steps_.step_size(); ++i) {
      if (done[static_cast<std::size_t>(i)]) continue;
      problems_.add(step_field(i),
                    "it waits for its own outputs, by way of other steps or "
                    "directly: break the circle");
    }
  }

  bool inputs_done(int step, const std::vector<bool>& done) const {
    return std::ranges::all_of(steps_.step(step).input_map(), [&](const auto& item) {
      const auto found = writer_.find(item.second);
      return found == writer_.end() || found->second == kRequest ||
             done[static_cast<std::size_t>(found->second)];
    });
  }

  const inference::ModelConfig& message_;
  const inference::ModelEnsembling& steps_;
  Problems& problems_;
  std::map<std::string, int> writer_;  // step by tensor
  std::set<std::string> read_;
};

void check_kind(const inference::ModelConfig& message, Problems& problems) {
  if (message.platform() != kPlatform) {
    problems.add("platform", fmt::format("'{}' runs no ensembles: write platform: \"ensemble\"",
                                         log::printable(message.platform())));
  }
  const auto refuse = [&](std::string_view field) {
    problems.add(std::string(field), "an ensemble has none, only its steps have: remove the field");
  };
  if (!message.backend().empty()) refuse("backend");
  if (!message.instance_group().empty()) refuse("instance_group");
  if (message.has_optimization()) refuse("optimization");
  if (!message.model_warmup().empty()) refuse("model_warmup");
}

void check_steps(const inference::ModelEnsembling& message, Problems& problems) {
  if (message.step().empty()) {
    problems.add("ensemble_scheduling.step", "there is none: write at least one step");
  }
  for (int i = 0; i < message.step_size(); ++i) {
    const inference::ModelEnsembling::Step& step = message.step(i);
    const std::string field = step_field(i);
    if (step.model_name().empty()) {
      problems.add(field + ".model_name", "it is missing: write the name of the step's model");
    }
    if (step.model_version() < -1) {
      problems.add(field + ".model_version",
                   fmt::format("{} is no version: write -1 for the latest, or a number from 0",
                               step.model_version()));
    }
    if (step.input_map().empty()) {
      problems.add(field + ".input_map",
                   "it is missing: map each input of the step's model to a tensor");
    }
    if (step.output_map().empty()) {
      problems.add(field + ".output_map",
                   "it is missing: map an output of the step's model to a tensor");
    }
  }
}

}  // namespace

void check_ensemble(const inference::ModelConfig& message, Problems& problems) {
  if (!message.has_ensemble_scheduling()) {
    if (message.platform() == kPlatform) {
      problems.add("ensemble_scheduling", "platform \"ensemble\" needs it: list the steps");
    }
    return;
  }
  check_kind(message, problems);
  check_steps(message.ensemble_scheduling(), problems);
  TensorGraph(message, problems).check();
}

}  // namespace proa::config
