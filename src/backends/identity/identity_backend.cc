#include "backends/identity/identity_backend.h"

#include <atomic>
#include <thread>

#include "backends/identity/identity_options.h"

namespace proa::backends {
namespace {

using config::ModelConfig;
using core::Batch;

class IdentityModel;

class IdentityInstance final : public core::Instance {
 public:
  explicit IdentityInstance(IdentityModel& model) : model_(model) {}
  void start(std::unique_ptr<Batch> batch, Done done) override;

 private:
  IdentityModel& model_;
};

class IdentityModel final : public core::LoadedModel {
 public:
  IdentityModel(const ModelConfig& config, IdentityOptions options, const Clock& clock,
                Timer* timer)
      : options_(std::move(options)), clock_(clock), timer_(timer) {
    for (const config::Tensor& output : config.outputs) types_.push_back(output.type);
  }

  core::Execution execution() const override {
    if (options_.blocking) return core::Execution::kBlocking;
    return options_.execute_delay.count() > 0 ? core::Execution::kAsync : core::Execution::kInline;
  }

  Result<std::unique_ptr<core::Instance>> create_instance(const core::InstancePlacement&) override {
    return std::make_unique<IdentityInstance>(*this);
  }

  const IdentityOptions& options() const { return options_; }
  const Clock& clock() const { return clock_; }
  Timer& timer() { return *timer_; }

  // Sets the outputs of `batch`, or fails it when its turn to fail has come.
  void compute(Batch& batch) {
    batch.inputs_ready = clock_.now();
    if (options_.fail_period > 0 && ++batches_ % options_.fail_period == 0) {
      batch.fail(error::internal("{}", options_.fail_message));
    } else if (options_.echo_parameters) {
      for (std::size_t r = 0; r < batch.requests().size(); ++r) echo(batch, r);
    } else {
      for (std::size_t i = 0; i < types_.size(); ++i) copy_output(batch, i);
    }
    batch.computed = clock_.now();
  }

 private:
  // Answers request `r` with its own inputs and parameters.
  void echo(Batch& batch, std::size_t r) const {
    const core::Request& request = *batch.requests()[r];
    core::Response response;
    response.parameters = request.parameters;
    for (std::size_t i = 0; i < types_.size(); ++i) {
      response.outputs.push_back(request.wants_output(i) ? request.inputs[i] : Tensor{});
    }
    batch.set_response(r, std::move(response));
  }

  void copy_output(Batch& batch, std::size_t i) const {
    if (!batch.has_input(i)) return;
    const Tensor* single = batch.single_input(i);
    if (options_.zero_copy && single != nullptr) return batch.set_output(i, *single);
    Buffer copy = host_memory().allocate(batch.input_bytes(i));
    batch.gather(i, copy.bytes());
    batch.set_output(i, Tensor{types_[i], batch.input_shape(i), BufferView(std::move(copy))});
  }

  const IdentityOptions options_;
  const Clock& clock_;
  Timer* const timer_;
  std::vector<DataType> types_;  // of the outputs
  std::atomic<std::uint64_t> batches_ = 0;
};

void IdentityInstance::start(std::unique_ptr<Batch> batch, Done done) {
  const auto delay = model_.options().execute_delay;
  if (model_.execution() == core::Execution::kAsync) {
    // A batch that has not finished keeps the model and this instance alive.
    model_.timer().schedule(
        deadline_after(model_.clock().now(), delay),
        [model = &model_, batch = std::move(batch), done = std::move(done)]() mutable {
          model->compute(*batch);
          done(std::move(batch));
        });
    return;
  }
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  model_.compute(*batch);
  done(std::move(batch));
}

Error mismatch(const ModelConfig& config, std::size_t i, std::string_view what,
               std::string_view output, std::string_view input) {
  return error::invalid_argument(
      "model '{}': output '{}' has {} {}, but input '{}', which it repeats, has {}: make them "
      "equal",
      config.name, config.outputs[i].name, what, output, config.inputs[i].name, input);
}

Status check_signature(const ModelConfig& config) {
  if (config.inputs.empty()) {
    return error::invalid_argument(
        "model '{}': an identity model has no file that tells its inputs: list them in "
        "config.pbtxt, "
        "for example input [ {{ name: \"INPUT0\" data_type: TYPE_FP32 dims: [ 16 ] }} ]",
        config.name);
  }
  if (config.outputs.size() > config.inputs.size()) {
    return error::invalid_argument(
        "model '{}': {} outputs and {} inputs; output n of an identity model repeats input n, so "
        "give it no more outputs than inputs",
        config.name, config.outputs.size(), config.inputs.size());
  }
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const config::Tensor& output = config.outputs[i];
    const config::Tensor& input = config.inputs[i];
    if (output.type != input.type) {
      return mismatch(config, i, "type", data_type_name(output.type), data_type_name(input.type));
    }
    if (output.dims.rank() != input.dims.rank() ||
        !(output.dims.matches(input.dims) || input.dims.matches(output.dims))) {
      return mismatch(config, i, "dims", output.dims.to_string(), input.dims.to_string());
    }
  }
  return {};
}

class IdentityBackend final : public core::Backend {
 public:
  IdentityBackend(const Clock* clock, Timer* timer) : clock_(*clock), timer_(timer) {}

  std::string_view name() const override { return "identity"; }

  Status complete_config(const core::ModelFiles&, bool, ModelConfig& config) override {
    if (config.outputs.empty()) {
      for (std::size_t i = 0; i < config.inputs.size(); ++i) {
        config::Tensor output;
        output.name = fmt::format("OUTPUT{}", i);
        output.type = config.inputs[i].type;
        output.dims = config.inputs[i].dims;
        config.outputs.push_back(std::move(output));
      }
    }
    return check_signature(config);
  }

  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles&,
                                                  const ModelConfig& config) override {
    PROA_TRY(check_signature(config));
    auto options = parse_identity_options(config);
    if (!options) {
      return with_context(fmt::format("model '{}'", config.name), std::move(options.error()));
    }
    return std::make_unique<IdentityModel>(config, *std::move(options), clock_, timer_);
  }

 private:
  const Clock& clock_;
  Timer* const timer_;
};

}  // namespace

std::unique_ptr<core::Backend> make_identity_backend(const Clock* clock, Timer* timer) {
  return std::make_unique<IdentityBackend>(clock, timer);
}

}  // namespace proa::backends
