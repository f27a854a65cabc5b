#include "frontends/control_service.h"

#include <algorithm>
#include <array>
#include <string>

#include "config/proto_writer.h"
#include "core/statistics.h"
#include "frontends/log_settings.h"
#include "frontends/model_messages.h"
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

Error no_loading() {
  return error::unavailable(
      "explicit model load / unload is not allowed: the server runs with "
      "--model-control-mode=none and loads its models when it starts");
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

Result<inference::RepositoryIndexResponse> ControlService::repository_index(
    const inference::RepositoryIndexRequest& request) const {
  if (!request.repository_name().empty()) {
    return error::unimplemented(
        "'repository_name' specification is not supported: leave it out to "
        "see all repositories");
  }
  inference::RepositoryIndexResponse response;
  for (const lifecycle::VersionStatus& status : context_.repository->index()) {
    if (request.ready() && status.state != lifecycle::VersionState::kReady) continue;
    auto& model = *response.add_models();
    model.set_name(status.model);
    model.set_version(status.version);
    model.set_state(std::string(lifecycle::version_state_name(status.state)));
    model.set_reason(status.reason);
  }
  return response;
}

Result<inference::RepositoryModelLoadResponse> ControlService::repository_model_load(
    const inference::RepositoryModelLoadRequest&) const {
  return no_loading();
}

Result<inference::RepositoryModelUnloadResponse> ControlService::repository_model_unload(
    const inference::RepositoryModelUnloadRequest&) const {
  return no_loading();
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
