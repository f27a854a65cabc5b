#include "backends/image/image_backend.h"

#include "backends/image/image_model.h"
#include "backends/image/image_options.h"
#include "backends/image/image_signature.h"
#include "base/log.h"

namespace proa::backends {
namespace {

using config::ModelConfig;

// torchvision's mean and deviation are meant for pixels from 0 to 1.
void warn_of_unscaled_pixels(const ModelConfig& config) {
  const auto deviation = config.parameters.find("std");
  if (deviation == config.parameters.end() || config.parameters.contains("scale")) return;
  if (!deviation->second.starts_with("0.")) return;
  log::warn(
      "model {}: parameter std is \"{}\" and scale is not given, so pixels go from 0 to 255; "
      "numbers for pixels from 0 to 1 want scale \"1/255\"",
      log::printable(config.name), log::printable(deviation->second));
}

class ImageBackend final : public core::Backend {
 public:
  explicit ImageBackend(const Clock& clock) : clock_(clock) {}

  std::string_view name() const override { return "image"; }

  Status complete_config(const core::ModelFiles&, bool, ModelConfig& config) override {
    const auto options = parse_image_options(config);
    if (!options) return of_model(config, options.error());
    complete_image_signature(*options, config);
    const auto signature = check_image_signature(*options, config);
    if (!signature) return of_model(config, signature.error());
    return {};
  }

  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles&,
                                                  const ModelConfig& config) override {
    auto options = parse_image_options(config);
    if (!options) return of_model(config, options.error());
    const auto signature = check_image_signature(*options, config);
    if (!signature) return of_model(config, signature.error());
    warn_of_unscaled_pixels(config);
    return std::make_unique<ImageModel>(config, *std::move(options), *signature, clock_);
  }

 private:
  static Error of_model(const ModelConfig& config, Error error) {
    return with_context(fmt::format("model '{}'", config.name), std::move(error));
  }

  const Clock& clock_;
};

}  // namespace

std::unique_ptr<core::Backend> make_image_backend(const Clock* clock) {
  return std::make_unique<ImageBackend>(*clock);
}

}  // namespace proa::backends
