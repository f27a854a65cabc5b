#include "config/ensemble_fit.h"

#include <map>
#include <string>
#include <vector>

#include "base/log.h"

namespace proa::config {
namespace {

// How one model sees a tensor of the ensemble.
struct View {
  std::string owner;  // "input 'x' of model 'm' (step 0)"
  const ModelConfig* model;
  const Tensor* tensor;

  Shape full() const { return model->full_dims(*tensor); }
};

bool agree(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i] && a[i] != Shape::kAny && b[i] != Shape::kAny) return false;
  }
  return true;
}

// A model that does not batch may see the batch dimension as one of its own, and a model that does
// gives a tensor without one a batch of 1.
bool agree(const View& a, const View& b) {
  return agree(a.tensor->dims, b.tensor->dims) || agree(a.full(), b.full());
}

class Fit {
 public:
  Fit(const ModelConfig& ensemble, std::span<const ModelConfig* const> steps)
      : ensemble_(ensemble), steps_(steps) {}

  Status check() {
    for (const Tensor& input : ensemble_.inputs) {
      first_.emplace(input.name, View{owner("input", input.name), &ensemble_, &input});
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) PROA_TRY(check_batch(i));
    for (std::size_t i = 0; i < steps_.size(); ++i) PROA_TRY(check_outputs(i));
    for (std::size_t i = 0; i < steps_.size(); ++i) PROA_TRY(check_inputs(i));
    for (const Tensor& output : ensemble_.outputs) {
      PROA_TRY(meet(output.name, {owner("output", output.name), &ensemble_, &output}));
    }
    return {};
  }

 private:
  const Ensemble::Step& step(std::size_t i) const { return ensemble_.ensemble->steps[i]; }

  std::string owner(std::string_view kind, std::string_view name) const {
    return fmt::format("{} '{}' of the ensemble", kind, log::printable(name));
  }
  std::string owner(std::string_view kind, std::string_view name, std::size_t i) const {
    return fmt::format("{} '{}' of model '{}' (step {})", kind, log::printable(name),
                       log::printable(step(i).model), i);
  }

  Status check_batch(std::size_t i) const {
    const std::int32_t most = steps_[i]->max_batch_size;
    if (most == 0 || most >= ensemble_.max_batch_size) return {};
    return error::invalid_argument(
        "ensemble '{}' allows maximum batch size {}, but it contains model '{}' (step {}), which "
        "only allows maximum batch size {}: lower max_batch_size of the ensemble, or raise that of "
        "the model",
        ensemble_.name, ensemble_.max_batch_size, step(i).model, i, most);
  }

  Status check_outputs(std::size_t i) {
    for (const auto& [own, name] : step(i).outputs) {
      const int at = steps_[i]->find_output(own);
      if (at < 0) return unknown("output", own, i, steps_[i]->outputs);
      const Tensor& tensor = steps_[i]->outputs[static_cast<std::size_t>(at)];
      PROA_TRY(meet(name, {owner("output", own, i), steps_[i], &tensor}));
    }
    return {};
  }

  Status check_inputs(std::size_t i) {
    for (const auto& [own, name] : step(i).inputs) {
      const int at = steps_[i]->find_input(own);
      if (at < 0) return unknown("input", own, i, steps_[i]->inputs);
      const Tensor& tensor = steps_[i]->inputs[static_cast<std::size_t>(at)];
      PROA_TRY(meet(name, {owner("input", own, i), steps_[i], &tensor}));
    }
    for (const Tensor& input : steps_[i]->inputs) {
      if (input.optional || step(i).inputs.contains(input.name)) continue;
      return error::invalid_argument(
          "{} is mapped to no tensor: name one in the step's input_map, or make the input optional",
          owner("input", input.name, i));
    }
    return {};
  }

  Error unknown(std::string_view kind, std::string_view own, std::size_t i,
                const std::vector<Tensor>& known) const {
    std::string names;
    for (const Tensor& tensor : known) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", log::printable(tensor.name));
    }
    return error::invalid_argument(
        "ensemble_scheduling.step[{}].{}_map: model '{}' has no {} '{}'; it has {}", i, kind,
        step(i).model, kind, log::printable(own), names);
  }

  // Compares with the first that named the tensor: its writer, as a rule.
  Status meet(const std::string& name, View view) {
    const auto [found, is_new] = first_.emplace(name, view);
    if (is_new) return {};
    const View& other = found->second;
    if (other.tensor->type != view.tensor->type) {
      return error::invalid_argument(
          "inconsistent data type of tensor '{}': {} has {} and {} has {}: make them equal",
          log::printable(name), other.owner, data_type_name(other.tensor->type), view.owner,
          data_type_name(view.tensor->type));
    }
    if (agree(other, view)) return {};
    return error::invalid_argument(
        "inconsistent shape of tensor '{}': {} has {} and {} has {} (-1 = any, the batch dimension "
        "included): make them equal",
        log::printable(name), other.owner, other.full().to_string(), view.owner,
        view.full().to_string());
  }

  const ModelConfig& ensemble_;
  const std::span<const ModelConfig* const> steps_;
  std::map<std::string, View, std::less<>> first_;  // by tensor
};

}  // namespace

Status check_steps_fit(const ModelConfig& ensemble, std::span<const ModelConfig* const> steps) {
  return Fit(ensemble, steps).check();
}

}  // namespace proa::config
