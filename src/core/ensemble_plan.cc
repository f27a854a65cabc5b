#include "core/ensemble_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "config/ensemble_fit.h"

namespace proa::core {
namespace {

// Gives tensors their numbers, in the order in which they are named.
class PlanMaker {
 public:
  EnsemblePlan make(const config::ModelConfig& config) {
    for (const auto& input : config.inputs) plan_.inputs.push_back(tensor(input.name));
    for (const auto& stated : config.ensemble->steps) add_step(stated);
    for (const auto& output : config.outputs) plan_.outputs.push_back(tensor(output.name));
    sort();
    return std::move(plan_);
  }

 private:
  std::size_t tensor(const std::string& name) {
    const auto [found, is_new] = numbers_.emplace(name, plan_.writers.size());
    if (is_new) plan_.writers.push_back(EnsemblePlan::kNobody);
    return found->second;
  }

  void add_step(const config::Ensemble::Step& stated) {
    EnsemblePlan::Step step;
    step.model = stated.model;
    if (stated.version != config::Ensemble::kLatest) step.version = std::to_string(stated.version);
    const auto same = std::ranges::find_if(plan_.steps, [&](const EnsemblePlan::Step& other) {
      return other.model == step.model && other.version == step.version;
    });
    step.like = static_cast<std::size_t>(same - plan_.steps.begin());
    for (const auto& [own, name] : stated.inputs) step.inputs.push_back({own, tensor(name)});
    for (const auto& [own, name] : stated.outputs) {
      step.outputs.push_back({own, tensor(name)});
      plan_.writers[step.outputs.back().tensor] = plan_.steps.size();
    }
    plan_.steps.push_back(std::move(step));
  }

  void sort() {
    std::vector<bool> done(plan_.steps.size(), false);
    while (plan_.order.size() < plan_.steps.size()) {
      const std::size_t before = plan_.order.size();
      for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
        if (done[s] || !may_follow(s, done)) continue;
        if (!plan_.order.empty() && !reads_from(s, plan_.order.back())) plan_.chain = false;
        done[s] = true;
        plan_.order.push_back(s);
      }
      PROA_CHECK(plan_.order.size() > before, "the graph of an ensemble has no circle");
    }
  }

  bool may_follow(std::size_t s, const std::vector<bool>& done) const {
    return std::ranges::all_of(plan_.steps[s].inputs, [&](const EnsemblePlan::Edge& edge) {
      const std::size_t writer = plan_.writers[edge.tensor];
      return writer == EnsemblePlan::kNobody || done[writer];
    });
  }

  bool reads_from(std::size_t s, std::size_t writer) const {
    return std::ranges::any_of(plan_.steps[s].inputs, [&](const EnsemblePlan::Edge& edge) {
      return plan_.writers[edge.tensor] == writer;
    });
  }

  EnsemblePlan plan_;
  std::map<std::string, std::size_t> numbers_;
};

std::vector<std::size_t> step_inputs(const EnsemblePlan& plan, std::size_t s) {
  if (s == plan.answer()) return plan.outputs;
  std::vector<std::size_t> tensors;
  for (const auto& edge : plan.steps[s].inputs) tensors.push_back(edge.tensor);
  return tensors;
}

// Is `inner` reached only by way of `outer`, so that it runs for each response of both?
bool is_within(const EnsembleBinding& binding, std::size_t inner, std::size_t outer) {
  while (inner != outer) {
    if (inner == EnsembleBinding::kRequest) return false;
    inner = binding.step_scopes[inner];
  }
  return true;
}

// The innermost scope among those of the tensors that step `s` reads.
Result<std::size_t> scope_of(const EnsemblePlan& plan, const EnsembleBinding& binding,
                             std::size_t s) {
  std::size_t scope = EnsembleBinding::kRequest;
  for (const std::size_t tensor : step_inputs(plan, s)) {
    const std::size_t other = binding.tensor_scopes[tensor];
    if (is_within(binding, other, scope)) {
      scope = other;
    } else if (!is_within(binding, scope, other)) {
      return error::invalid_argument(
          "{} reads tensors of steps {} and {}, which both answer any number of times: which "
          "answers "
          "belong together cannot be told; let one of them follow from the other",
          s == plan.answer() ? std::string("the ensemble's answer")
                             : fmt::format("step {} (model '{}')", s, plan.steps[s].model),
          std::min(scope, other), std::max(scope, other));
    }
  }
  return scope;
}

Status set_scopes(const EnsemblePlan& plan, EnsembleBinding& binding) {
  binding.tensor_scopes.assign(plan.tensors(), EnsembleBinding::kRequest);
  binding.step_scopes.assign(plan.steps.size() + 1, EnsembleBinding::kRequest);
  if (!binding.decoupled) return {};
  for (const std::size_t s : plan.order) {
    PROA_ASSIGN(binding.step_scopes[s], scope_of(plan, binding, s));
    for (const auto& edge : plan.steps[s].outputs) {
      binding.tensor_scopes[edge.tensor] = binding.steps[s].decoupled ? s : binding.step_scopes[s];
    }
  }
  PROA_ASSIGN(binding.step_scopes[plan.answer()], scope_of(plan, binding, plan.answer()));
  return {};
}

}  // namespace

EnsemblePlan make_ensemble_plan(const config::ModelConfig& config) {
  return PlanMaker().make(config);
}

EnsembleRoute make_ensemble_route(const EnsemblePlan& plan,
                                  std::span<const std::uint16_t> outputs) {
  EnsembleRoute route{std::vector<bool>(plan.steps.size(), false),
                      std::vector<std::vector<std::size_t>>(plan.tensors()),
                      std::vector<std::uint16_t>(plan.steps.size() + 1, 0)};
  const auto read = [&](std::size_t step, std::size_t tensor) {
    route.readers[tensor].push_back(step);
    ++route.waits[step];
  };
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    if (outputs.empty() || std::ranges::find(outputs, i) != outputs.end()) {
      read(plan.answer(), plan.outputs[i]);
    }
  }
  for (auto s = plan.order.rbegin(); s != plan.order.rend(); ++s) {
    const EnsemblePlan::Step& step = plan.steps[*s];
    route.needed[*s] = std::ranges::any_of(step.outputs, [&](const EnsemblePlan::Edge& edge) {
      return !route.readers[edge.tensor].empty();
    });
    if (!route.needed[*s]) continue;
    for (const EnsemblePlan::Edge& edge : step.inputs) read(*s, edge.tensor);
  }
  return route;
}

bool EnsembleBinding::is_for(std::span<const std::shared_ptr<Model>> models) const {
  return std::ranges::equal(steps, models, [](const Step& step, const auto& model) {
    return !step.model.owner_before(model) && !model.owner_before(step.model);
  });
}

Result<EnsembleBinding> bind_ensemble(const EnsemblePlan& plan, const config::ModelConfig& config,
                                      std::span<const std::shared_ptr<Model>> models) {
  std::vector<const config::ModelConfig*> configs;
  for (const auto& model : models) configs.push_back(&model->config());
  PROA_TRY(config::check_steps_fit(config, configs));
  EnsembleBinding binding;
  for (std::size_t s = 0; s < models.size(); ++s) {
    EnsembleBinding::Step& step = binding.steps.emplace_back();
    step.model = models[s];
    step.decoupled = configs[s]->decoupled;
    binding.decoupled |= step.decoupled;
    for (const auto& edge : plan.steps[s].outputs) {
      step.outputs.push_back(static_cast<std::uint16_t>(configs[s]->find_output(edge.name)));
    }
  }
  PROA_TRY(set_scopes(plan, binding));
  return binding;
}

}  // namespace proa::core
