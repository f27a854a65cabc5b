#include "frontends/http/rest_endpoints.h"

#include <array>

#include "frontends/log_settings.h"
#include "frontends/not_built.h"
#include "frontends/repository_requests.h"
#include "proto/json.h"

namespace proa::frontends {
namespace {

constexpr Route route(std::string_view method, std::string_view pattern, RestEndpoint endpoint) {
  return {method, pattern, static_cast<int>(endpoint)};
}

// The first that matches counts, so the busiest stand in front.
constexpr std::array kRoutes = {
    route("POST", "/v2/models/{model}/infer", RestEndpoint::kInfer),
    route("POST", "/v2/models/{model}/versions/{version}/infer", RestEndpoint::kInfer),
    route("GET", "/v2/health/live", RestEndpoint::kServerLive),
    route("GET", "/v2/health/ready", RestEndpoint::kServerReady),
    route("GET", "/v2/models/{model}/ready", RestEndpoint::kModelReady),
    route("GET", "/v2/models/{model}/versions/{version}/ready", RestEndpoint::kModelReady),
    route("GET", "/metrics", RestEndpoint::kMetrics),
    route("GET", "/v2", RestEndpoint::kServerMetadata),
    route("GET", "/v2/models/stats", RestEndpoint::kModelStatistics),
    route("GET", "/v2/models/{model}", RestEndpoint::kModelMetadata),
    route("GET", "/v2/models/{model}/versions/{version}", RestEndpoint::kModelMetadata),
    route("GET", "/v2/models/{model}/config", RestEndpoint::kModelConfig),
    route("GET", "/v2/models/{model}/versions/{version}/config", RestEndpoint::kModelConfig),
    route("GET", "/v2/models/{model}/stats", RestEndpoint::kModelStatistics),
    route("GET", "/v2/models/{model}/versions/{version}/stats", RestEndpoint::kModelStatistics),
    route("POST", "/v2/repository/index", RestEndpoint::kRepositoryIndex),
    route("POST", "/v2/repository/models/{model}/load", RestEndpoint::kRepositoryLoad),
    route("POST", "/v2/repository/models/{model}/unload", RestEndpoint::kRepositoryUnload),
    // Refused: all repositories are one.
    route("POST", "/v2/repository/{repository}/index", RestEndpoint::kRepositoryIndex),
    route("POST", "/v2/repository/{repository}/models/{model}/load", RestEndpoint::kRepositoryLoad),
    route("POST", "/v2/repository/{repository}/models/{model}/unload",
          RestEndpoint::kRepositoryUnload),
    route("GET", "/v2/logging", RestEndpoint::kLogSettings),
    route("POST", "/v2/logging", RestEndpoint::kChangeLogSettings),
    // Known, but not built.
    route("GET", "/v2/trace/setting", RestEndpoint::kTrace),
    route("POST", "/v2/trace/setting", RestEndpoint::kTrace),
    route("GET", "/v2/models/{model}/trace/setting", RestEndpoint::kTrace),
    route("POST", "/v2/models/{model}/trace/setting", RestEndpoint::kTrace),
    route("POST", "/v2/models/{model}/generate", RestEndpoint::kGenerate),
    route("POST", "/v2/models/{model}/generate_stream", RestEndpoint::kGenerate),
    route("POST", "/v2/models/{model}/versions/{version}/generate", RestEndpoint::kGenerate),
    route("POST", "/v2/models/{model}/versions/{version}/generate_stream", RestEndpoint::kGenerate),
    route("GET", "/v2/{memory}/status", RestEndpoint::kSharedMemory),
    route("GET", "/v2/{memory}/region/{any}/status", RestEndpoint::kSharedMemory),
    route("POST", "/v2/{memory}/region/{any}/register", RestEndpoint::kSharedMemory),
    route("POST", "/v2/{memory}/unregister", RestEndpoint::kSharedMemory),
    route("POST", "/v2/{memory}/region/{any}/unregister", RestEndpoint::kSharedMemory),
};

// A protobuf message of a control call as its JSON.
template <class Message>
RestReply json_reply(const Result<Message>& result) {
  if (!result) return error_reply(result.error());
  return {.body = proto::to_json(*result)};
}

RestReply health_reply(bool good) {
  return {.status = good ? 200 : 400, .content_type = "text/plain"};
}

template <class Request>
Request named(const RestRequest& request) {
  Request message;
  message.set_name(request.model);
  message.set_version(request.version);
  return message;
}

RestReply model_ready(const RestRequest& request, const ControlService& service) {
  const Status status = service.why_not_ready(named<inference::ModelReadyRequest>(request));
  if (status) return health_reply(true);
  return error_reply(400, "Model version not ready: " + status.error().message);
}

RestReply model_config(const RestRequest& request, const ControlService& service) {
  const auto result = service.model_config(named<inference::ModelConfigRequest>(request));
  if (!result) return error_reply(result.error());
  return {.body = proto::to_json(result->config())};
}

RestReply log_settings(std::string_view body, const ControlService& service) {
  const auto request = parse_log_settings(body);
  if (!request) return error_reply(request.error());
  const auto result = service.log_settings(*request);
  if (!result) return error_reply(result.error());
  return {.body = log_settings_json(log::current())};
}

RestReply unload(const RestRequest& request, std::string_view body, const ControlService& service) {
  inference::RepositoryModelUnloadRequest message;
  message.set_repository_name(request.repository);
  message.set_model_name(request.model);
  const Status parsed = read_repository_body(body, message);
  if (!parsed) return error_reply(parsed.error());
  const auto result = service.repository_model_unload(message);
  return result ? RestReply{} : error_reply(result.error());
}

}  // namespace

std::span<const Route> rest_routes() { return kRoutes; }

RestReply answer_rest(const RestRequest& request, std::string_view body,
                      const ControlService& service, const FrontendContext& context) {
  switch (request.endpoint) {
    case RestEndpoint::kServerMetadata:
      return json_reply(service.server_metadata({}));
    case RestEndpoint::kServerLive:
      return health_reply(service.server_live({})->live());
    case RestEndpoint::kServerReady:
      return health_reply(service.server_ready({})->ready());
    case RestEndpoint::kModelMetadata:
      return json_reply(service.model_metadata(named<inference::ModelMetadataRequest>(request)));
    case RestEndpoint::kModelReady:
      return model_ready(request, service);
    case RestEndpoint::kModelConfig:
      return model_config(request, service);
    case RestEndpoint::kModelStatistics:
      return json_reply(
          service.model_statistics(named<inference::ModelStatisticsRequest>(request)));
    case RestEndpoint::kRepositoryUnload:
      return unload(request, body, service);
    case RestEndpoint::kLogSettings:
      return {.body = log_settings_json(log::current())};
    case RestEndpoint::kChangeLogSettings:
      return log_settings(body, service);
    case RestEndpoint::kSharedMemory:
      return error_reply(not_built(NotBuilt::kSharedMemory));
    case RestEndpoint::kTrace:
      return error_reply(not_built(NotBuilt::kTrace));
    case RestEndpoint::kGenerate:
      return error_reply(not_built(NotBuilt::kGenerate));
    case RestEndpoint::kMetrics:
      if (!context.options.metrics) break;
      return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
              .body = context.options.metrics()};
    case RestEndpoint::kInfer:
    case RestEndpoint::kRepositoryIndex:
    case RestEndpoint::kRepositoryLoad:
      break;  // calls of their own
  }
  return error_reply(404, "this server has no such endpoint");
}

}  // namespace proa::frontends
