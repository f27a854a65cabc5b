#include "backends/openvino/openvino_model.h"

#include <algorithm>

#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "backends/openvino/number_limits.h"
#include "backends/openvino/openvino_instance.h"
#include "base/log.h"
#include "openvino/runtime/properties.hpp"

namespace proa::backends::openvino {
namespace {

Status give_shapes(ov::Model& model, const std::vector<Shape>& port_shapes) {
  return guarded(ErrorCode::kInvalidArgument, "the model cannot take the configured shapes", [&] {
    std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
    for (std::size_t port = 0; port < port_shapes.size(); ++port) {
      shapes.emplace(model.input(port), to_ov_partial_shape(port_shapes[port]));
    }
    model.reshape(shapes);
  });
}

// A file with a fixed first extent may have it in the middle of the graph too, where reshaping does
// not reach. Tries two batch sizes on a copy: every output must follow.
Status check_batch_dimension(const ov::Model& model, const Binding& binding,
                             std::int32_t max_batch_size) {
  for (const std::int64_t batch_size : {2, 3}) {
    const auto copy = model.clone();
    std::vector<Shape> shapes = binding.port_shapes;
    for (Shape& shape : shapes) shape[0] = batch_size;
    Status fits = give_shapes(*copy, shapes);
    bool follows = fits.has_value();
    for (const BoundTensor& output : binding.outputs) {
      if (!follows) break;
      const auto shape = from_ov_shape(copy->output(output.port).get_partial_shape());
      follows = shape && !shape->empty() && ((*shape)[0] == batch_size || (*shape)[0] == -1);
    }
    if (!follows) {
      return error::invalid_argument(
          "max_batch_size is {}, but the model file fixes its first dimension and does not follow "
          "when it is opened{}{}; set max_batch_size: 0 and whole shapes, or export the model with "
          "a dynamic batch dimension",
          max_batch_size, fits ? "" : ": ", fits ? "" : fits.error().message);
    }
  }
  return {};
}

void warn_of_unknown(const config::ModelConfig& config, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    log::warn("model {}: parameter {} means nothing to backend openvino and is ignored",
              log::printable(config.name), log::printable(key));
  }
}

// F16 silently becomes bf16 on most processors: what it really is belongs into the log.
void log_compiled(const config::ModelConfig& config, const ov::CompiledModel& compiled,
                  const Runtime::Options& how) {
  (void)guarded(ErrorCode::kInternal, "properties", [&] {
    log::info("model {}: {} of {} configured instance(s), {} thread(s), precision {}",
              log::printable(config.name), how.streams, std::max(1, config.instance_count()),
              how.threads, compiled.get_property(ov::hint::inference_precision).get_type_name());
  });
}

}  // namespace

Result<std::unique_ptr<OpenVinoModel>> OpenVinoModel::create(Runtime& runtime,
                                                             std::shared_ptr<ov::Model> model,
                                                             const config::ModelConfig& config,
                                                             const Options& options) {
  std::vector<std::string> unknown_keys;
  PROA_ASSIGN(Settings settings, parse_settings(config, unknown_keys));
  warn_of_unknown(config, unknown_keys);

  PROA_ASSIGN(Binding binding, bind(read_signature(*model), config));
  if (binding.must_reshape) {
    if (binding.opens_batch_dimension) {
      PROA_TRY(check_batch_dimension(*model, binding, config.max_batch_size));
    }
    PROA_TRY(give_shapes(*model, binding.port_shapes));
    // Now outputs have the shapes that follow from the inputs', and their fit can be judged.
    PROA_ASSIGN(binding, bind(read_signature(*model), config));
  }

  for (const std::string& warning : narrowing_warnings(*model)) {
    log::warn("model {}: {}", log::printable(config.name), log::printable(warning));
  }

  Runtime::Options how;
  how.precision = settings.precision;
  how.threads = settings.threads > 0 ? settings.threads : options.processors;
  how.streams = std::clamp(config.instance_count(), 1, std::max(1, options.processors));
  PROA_ASSIGN(ov::CompiledModel compiled, runtime.compile(model, how));
  log_compiled(config, compiled, how);

  std::unique_ptr<OpenVinoModel> loaded(
      new OpenVinoModel(config.name, settings, std::move(binding), std::move(compiled), options));
  PROA_TRY(loaded->warm_up(config, how.streams));
  return loaded;
}

OpenVinoModel::OpenVinoModel(std::string name, Settings settings, Binding binding,
                             ov::CompiledModel compiled, const Options& options)
    : name_(std::move(name)),
      settings_(settings),
      binding_(std::move(binding)),
      options_(options),
      compiled_(std::move(compiled)) {}

Status OpenVinoModel::warm_up(const config::ModelConfig& config, int streams) {
  auto warm_up = std::make_unique<WarmUp>(compiled_, binding_, streams);
  if (!warm_up->possible()) {
    log::debug("model {}: input extents are open, no warm-up", log::printable(name_));
    return {};
  }
  std::vector<std::int64_t> order = warm_up_order(config);
  std::erase_if(order, [&](std::int64_t size) { return size != 1 && !warm_up->fits(size); });
  PROA_ASSIGN(std::vector<std::int64_t> left,
              warm_within(*warm_up, std::move(order),
                          std::chrono::milliseconds(settings_.warm_up_ms), *options_.clock));
  if (left.empty() || settings_.warm_up_ms == 0) return {};
  log::debug("model {}: {} batch size(s) left to warm in the background", log::printable(name_),
             left.size());
  background_ = std::make_unique<BackgroundWarmUp>(std::move(warm_up), std::move(left));
  return {};
}

int OpenVinoModel::useful_instances(int configured) const {
  return std::clamp(configured, 1, std::max(1, options_.processors));
}

Result<std::unique_ptr<core::Instance>> OpenVinoModel::create_instance(
    const core::InstancePlacement& placement) {
  if (placement.kind == config::InstanceGroup::Kind::kGpu) {
    return error::invalid_argument(
        "instance {}: backend openvino runs on the CPU; set kind: KIND_CPU in instance_group",
        placement.name);
  }
  return guarded(ErrorCode::kInternal, "cannot create an inference request",
                 [&]() -> Result<std::unique_ptr<core::Instance>> {
                   return std::make_unique<OpenVinoInstance>(compiled_.create_infer_request(),
                                                             binding_, background_.get(),
                                                             *options_.clock);
                 });
}

}  // namespace proa::backends::openvino
