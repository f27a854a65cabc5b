#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "boost/container/small_vector.hpp"
#include "config/model_config.h"
#include "core/model.h"

namespace proa::core {

// An ensemble's graph, from its configuration alone: steps and tensors by number. The answer is the
// step behind the last one; it reads the ensemble's outputs.
// Threading: immutable.
struct EnsemblePlan {
  static constexpr std::size_t kNobody = SIZE_MAX;  // writes the ensemble's inputs

  struct Edge {
    std::string name;  // what the step's model calls the tensor
    std::size_t tensor = 0;
  };
  struct Step {
    std::string model;
    std::string version;   // "" = the latest
    std::size_t like = 0;  // the first step of the same model and version, perhaps this one
    std::vector<Edge> inputs;
    std::vector<Edge> outputs;
  };

  std::vector<Step> steps;
  std::vector<std::size_t> inputs;   // tensor of each input of the ensemble
  std::vector<std::size_t> outputs;  // of each output
  std::vector<std::size_t> writers;  // by tensor: the step that writes it
  std::vector<std::size_t> order;    // steps, none before those whose tensors it reads
  bool chain = true;                 // each step of `order` reads from the one before

  std::size_t answer() const { return steps.size(); }
  std::size_t tensors() const { return writers.size(); }
};

// `config` has passed the checks of config/message_rules.h.
EnsemblePlan make_ensemble_plan(const config::ModelConfig& config);

// What of a plan a request needs: only the steps that its outputs depend on are run.
// Threading: immutable.
struct EnsembleRoute {
  std::vector<bool> needed;  // by step
  // By tensor: the needed steps that read it, the answer among them, once for each edge.
  std::vector<std::vector<std::size_t>> readers;
  std::vector<std::uint16_t> waits;  // by step, the answer behind them: edges it reads
};

// `outputs`: the indexes of the outputs that the request wants; none = all.
EnsembleRoute make_ensemble_route(const EnsemblePlan& plan, std::span<const std::uint16_t> outputs);

// A plan with certain versions of its models: what can be said of them before a request comes.
// Threading: immutable. Holds no model in memory.
struct EnsembleBinding {
  static constexpr std::size_t kRequest = SIZE_MAX;

  struct Step {
    std::weak_ptr<Model> model;
    bool decoupled = false;
    std::vector<std::uint16_t> outputs;  // of the model, by the plan's edges
  };
  std::vector<Step> steps;
  // How often a step runs, or the answer (behind the steps), or a tensor is written: once for each
  // response of that decoupled step; kRequest = once for the request.
  std::vector<std::size_t> step_scopes;
  std::vector<std::size_t> tensor_scopes;
  bool decoupled = false;  // some step is: the ensemble answers any number of times

  // Were these the models?
  bool is_for(std::span<const std::shared_ptr<Model>> models) const;
};

// Errors: kInvalidArgument when the models do not fit together, or a step needs tensors of two
// decoupled steps that do not follow from each other.
Result<EnsembleBinding> bind_ensemble(const EnsemblePlan& plan, const config::ModelConfig& config,
                                      std::span<const std::shared_ptr<Model>> models);

}  // namespace proa::core
