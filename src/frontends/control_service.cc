#include "frontends/control_service.h"

#include <algorithm>
#include <array>
#include <string>

#include "config/proto_writer.h"
#include "core/statistics.h"
#include "frontends/log_settings.h"
#include "frontends/model_messages.h"
#include "frontends/repository_requests.h"
#include "lifecycle/model_repository.h"

namespace proa::frontends {
namespace {

// Extensions of KServe v2 that this server speaks, by Triton's names.
constexpr std::array kExtensions = {
    "classification",     "model_repository", "schedule_policy", "model_configuration",
    "binary_tensor_data", "parameters",       "statistics",      "logging"};

// Names that grpc.health.v1 knows beside models.
constexpr std::array<std::string_view, 3> kServices = {"", "inference.GRPCInferenceService",
                                                       "grpc.health.v1.Health"};

// Clients may load and unload in explicit mode only.
Status check_mode(const lifecycle::ModelRepository& repository) {
  if (repository.mode() == lifecycle::ControlMode::kExplicit) return {};
  const bool polls = repository.mode() == lifecycle::ControlMode::kPoll;
  return error::unavailable(
      "explicit model load / unload is not allowed if polling is enabled or models are loaded at "
      "the start: the server runs with --model-control-mode={}, wanted explicit",
      polls ? "poll" : "none");
}

inference::RepositoryIndexResponse index_message(const std::vector<lifecycle::VersionStatus>& lines,
                                                 bool only_ready) {
  inference::RepositoryIndexResponse response;
  for (const lifecycle::VersionStatus& line : lines) {
    if (only_ready && line.state != lifecycle::VersionState::kReady) continue;
    auto& model = *response.add_models();
    model.set_name(line.model);
    model.set_version(line.version);
    // As in Triton, a model that nobody has asked for is only named.
    if (line.state != lifecycle::VersionState::kUnknown) {
      model.set_state(std::string(lifecycle::version_state_name(line.state)));
    }
    model.set_reason(line.reason);
  }
  return response;
}

}  // namespace

Result<inference::ServerLiveResponse> ControlService::server_live(
    const inference::ServerLiveRequest&) const {
  inference::ServerLiveResponse response;
  response.set_live(true);
  return response;
}

Result<inference::ServerReadyResponse> ControlService::server_ready(
    const inference::ServerReadyRequest&) const {
  inference::ServerReadyResponse response;
  response.set_ready(!shutdown_.begun() && context_.repository->ready());
  return response;
}

Result<inference::ServerMetadataResponse> ControlService::server_metadata(
    const inference::ServerMetadataRequest&) const {
  inference::ServerMetadataResponse response;
  response.set_name(context_.server_name);
  response.set_version(context_.server_version);
  for (const char* extension : kExtensions) response.add_extensions(extension);
  return response;
}

Result<inference::ModelReadyResponse> ControlService::model_ready(
    const inference::ModelReadyRequest& request) const {
  const Status status = why_not_ready(request);
  if (!status && status.error().code == ErrorCode::kInvalidArgument) return status.error();
  inference::ModelReadyResponse response;
  response.set_ready(status.has_value());
  return response;
}

Status ControlService::why_not_ready(const inference::ModelReadyRequest& request) const {
  return context_.repository->model_ready(request.name(), request.version());
}

Result<inference::ModelMetadataResponse> ControlService::model_metadata(
    const inference::ModelMetadataRequest& request) const {
  PROA_ASSIGN(const auto model, context_.repository->find(request.name(), request.version()));
  if (!request.version().empty()) {
    return metadata_message(model->config(), std::array{model->version()});
  }
  return metadata_message(model->config(), context_.repository->ready_versions(request.name()));
}

Result<inference::ModelConfigResponse> ControlService::model_config(
    const inference::ModelConfigRequest& request) const {
  PROA_ASSIGN(const auto model, context_.repository->find(request.name(), request.version()));
  inference::ModelConfigResponse response;
  *response.mutable_config() = config::to_proto(model->config());
  return response;
}

Result<inference::ModelStatisticsResponse> ControlService::model_statistics(
    const inference::ModelStatisticsRequest& request) const {
  inference::ModelStatisticsResponse response;
  if (!request.name().empty()) {
    // Checks name and version; without a version, all that are ready are told.
    PROA_ASSIGN(const auto model, context_.repository->find(request.name(), request.version()));
    if (!request.version().empty()) {
      *response.add_model_stats() = statistics_message(*model);
      return response;
    }
  }
  for (const auto& model : context_.repository->ready_models()) {
    if (!request.name().empty() && model->name() != request.name()) continue;
    *response.add_model_stats() = statistics_message(*model);
  }
  return response;
}

void ControlService::repository_index(const inference::RepositoryIndexRequest& request,
                                      Done<inference::RepositoryIndexResponse> done) const {
  const Status status = check_repository_name(request.repository_name());
  if (!status) return done(status.error());
  context_.repository->list([only_ready = request.ready(), done = std::move(done)](
                                Result<std::vector<lifecycle::VersionStatus>> lines) mutable {
    if (!lines) return done(std::move(lines.error()));
    done(index_message(*lines, only_ready));
  });
}

void ControlService::repository_model_load(
    inference::RepositoryModelLoadRequest request,
    Done<inference::RepositoryModelLoadResponse> done) const {
  const Status allowed = check_mode(*context_.repository);
  if (!allowed) return done(allowed.error());
  const std::string name = request.model_name();
  auto load = to_load_request(std::move(request));
  if (!load) return done(load.error());
  context_.repository->load(name, *std::move(load),
                            [done = std::move(done)](Status status) mutable {
                              if (!status) return done(std::move(status.error()));
                              done(inference::RepositoryModelLoadResponse());
                            });
}

Result<inference::RepositoryModelUnloadResponse> ControlService::repository_model_unload(
    const inference::RepositoryModelUnloadRequest& request) const {
  PROA_TRY(check_mode(*context_.repository));
  PROA_ASSIGN(const bool dependents, unloads_dependents(request));
  PROA_TRY(context_.repository->unload(request.model_name(), dependents));
  return inference::RepositoryModelUnloadResponse();
}

Result<inference::LogSettingsResponse> ControlService::log_settings(
    const inference::LogSettingsRequest& request) const {
  if (!request.settings().empty()) {
    PROA_ASSIGN(const log::Options options, with_settings(log::current(), request));
    log::change(options);
  }
  return log_settings_message(log::current());
}

grpc::health::v1::HealthCheckResponse::ServingStatus ControlService::serving_status(
    std::string_view service) const {
  using Response = grpc::health::v1::HealthCheckResponse;
  const auto serving = [](bool yes) { return yes ? Response::SERVING : Response::NOT_SERVING; };
  if (std::ranges::find(kServices, service) != kServices.end()) {
    return serving(server_ready({})->ready());
  }
  const Status ready = context_.repository->model_ready(service, "");
  if (!ready && ready.error().code == ErrorCode::kNotFound) return Response::SERVICE_UNKNOWN;
  return serving(ready.has_value() && !shutdown_.begun());
}

Result<grpc::health::v1::HealthCheckResponse> ControlService::health_check(
    const grpc::health::v1::HealthCheckRequest& request) const {
  grpc::health::v1::HealthCheckResponse response;
  response.set_status(serving_status(request.service()));
  if (response.status() == grpc::health::v1::HealthCheckResponse::SERVICE_UNKNOWN) {
    return error::not_found("unknown service or model '{}'", request.service());
  }
  return response;
}

}  // namespace proa::frontends
