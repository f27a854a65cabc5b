#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "frontends/options.h"
#include "frontends/shutdown_signal.h"
#include "proto/grpc_service.pb.h"
#include "proto/health.pb.h"

namespace proa::frontends {

// The calls beside inference, once for all front ends: gRPC sends these messages as they are, REST
// as JSON. Method names are those of inference.GRPCInferenceService.
// Errors: kNotFound for models and versions that are not there, in Triton's words; kUnavailable
// where the server's mode does not allow the call.
// Threading: thread-safe; calls return in microseconds to milliseconds and never wait for a load.
class ControlService {
 public:
  // Both must outlive the service. Once `shutdown` has begun, the server is not ready any more.
  ControlService(const FrontendContext& context, const ShutdownSignal& shutdown)
      : context_(context), shutdown_(shutdown) {}

  Result<inference::ServerLiveResponse> server_live(const inference::ServerLiveRequest&) const;
  Result<inference::ServerReadyResponse> server_ready(const inference::ServerReadyRequest&) const;
  Result<inference::ServerMetadataResponse> server_metadata(
      const inference::ServerMetadataRequest&) const;
  // False also for models that are not there. Errors: kInvalidArgument for what is no version.
  Result<inference::ModelReadyResponse> model_ready(
      const inference::ModelReadyRequest& request) const;
  // The reason why model_ready() says no, as an error.
  Status why_not_ready(const inference::ModelReadyRequest& request) const;
  Result<inference::ModelMetadataResponse> model_metadata(
      const inference::ModelMetadataRequest& request) const;
  Result<inference::ModelConfigResponse> model_config(
      const inference::ModelConfigRequest& request) const;
  // Of all models when no name is given; of all their versions when no version is.
  Result<inference::ModelStatisticsResponse> model_statistics(
      const inference::ModelStatisticsRequest& request) const;

  // These answer later, on any thread, or at once: `done` is called exactly once.
  template <class Response>
  using Done = std::move_only_function<void(Result<Response>)>;
  void repository_index(const inference::RepositoryIndexRequest& request,
                        Done<inference::RepositoryIndexResponse> done) const;
  void repository_model_load(inference::RepositoryModelLoadRequest request,
                             Done<inference::RepositoryModelLoadResponse> done) const;
  // Returns before the model is gone.
  Result<inference::RepositoryModelUnloadResponse> repository_model_unload(
      const inference::RepositoryModelUnloadRequest& request) const;

  // Changes what is logged, at once, and tells what is in force. Without settings it only tells.
  Result<inference::LogSettingsResponse> log_settings(
      const inference::LogSettingsRequest& request) const;

  // grpc.health.v1: "" is the server, any other name a model of that name or one of our services.
  grpc::health::v1::HealthCheckResponse::ServingStatus serving_status(
      std::string_view service) const;
  // The same, with kNotFound for unknown names.
  Result<grpc::health::v1::HealthCheckResponse> health_check(
      const grpc::health::v1::HealthCheckRequest& request) const;

 private:
  const FrontendContext& context_;
  const ShutdownSignal& shutdown_;
};

}  // namespace proa::frontends
