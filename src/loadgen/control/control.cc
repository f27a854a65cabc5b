#include "loadgen/control/control.h"

#include <algorithm>
#include <set>

namespace proa::loadgen {
namespace {

constexpr std::size_t kMostComposing = 100;

// The configuration; "" where the server has none to tell.
Result<std::string> find_config(ControlChannel& control, const std::string& name,
                                const std::string& version) {
  auto config = control.ask(Question::kModelConfig, name, version);
  if (config) return config;
  const ErrorCode code = config.error().code;
  if (code == ErrorCode::kNotFound || code == ErrorCode::kUnimplemented) return std::string();
  return config;
}

// The steps of an ensemble, and the steps of those.
std::vector<std::string> find_composing(ControlChannel& control, const std::string& config) {
  std::vector<std::string> found = read_composing_models(config);
  for (std::size_t i = 0; i < found.size() && found.size() < kMostComposing; ++i) {
    const auto inner = find_config(control, found[i], "");
    if (!inner) continue;
    for (std::string& name : read_composing_models(*inner)) {
      if (std::ranges::find(found, name) == found.end()) found.push_back(std::move(name));
    }
  }
  return found;
}

class ServerStatistics final : public StatisticsSource {
 public:
  ServerStatistics(ControlChannel& control, const std::vector<ModelDescription>& models,
                   const Address* metrics)
      : control_(control), models_(models), metrics_(metrics) {}

  Result<ServerSnapshot> read() override {
    ServerSnapshot snapshot;
    std::set<std::string> seen;
    for (const ModelDescription& model : models_) {
      seen.insert(model.signature.name);
      PROA_TRY(add(model.signature.name, model.signature.version, false, snapshot));
    }
    for (const ModelDescription& model : models_) {
      for (const std::string& step : model.composing) {
        if (seen.insert(step).second) PROA_TRY(add(step, "", true, snapshot));
      }
    }
    if (metrics_ != nullptr) {
      PROA_ASSIGN(const std::string page, fetch_metrics(*metrics_));
      snapshot.metrics = read_metrics(page);
    }
    return snapshot;
  }

 private:
  Status add(const std::string& name, const std::string& version, bool composing,
             ServerSnapshot& snapshot) {
    PROA_ASSIGN(const std::string json, control_.ask(Question::kModelStatistics, name, version));
    PROA_ASSIGN(auto models, read_statistics(json));
    for (ServerModelStatistics& model : models) {
      model.composing = composing;
      snapshot.models.push_back(std::move(model));
    }
    return {};
  }

  ControlChannel& control_;
  const std::vector<ModelDescription>& models_;
  const Address* const metrics_;
};

}  // namespace

Result<ModelDescription> describe_model(ControlChannel& control, const std::string& name,
                                        const std::string& version) {
  const auto metadata = control.ask(Question::kModelMetadata, name, version);
  if (!metadata) return metadata.error();
  PROA_ASSIGN(const std::string config, find_config(control, name, version));
  ModelDescription description;
  PROA_ASSIGN(description.signature, read_model_signature(*metadata, config));
  description.signature.name = name;
  description.signature.version = version;
  description.composing = find_composing(control, config);
  return description;
}

std::unique_ptr<StatisticsSource> make_statistics_source(
    ControlChannel& control, const std::vector<ModelDescription>& models,
    const Address* metrics_address) {
  return std::make_unique<ServerStatistics>(control, models, metrics_address);
}

}  // namespace proa::loadgen
