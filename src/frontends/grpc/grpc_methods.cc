#include "frontends/grpc/grpc_methods.h"

#include <array>
#include <utility>

#include "frontends/grpc/health_watch.h"
#include "frontends/grpc/model_infer_call.h"
#include "frontends/grpc/reflection.h"
#include "frontends/grpc/stream_infer_call.h"
#include "frontends/grpc/unary_call.h"
#include "frontends/not_built.h"

namespace proa::frontends {
namespace {

using Handler = std::unique_ptr<net::ExchangeHandler>;

constexpr std::string_view kInferenceService = "/inference.GRPCInferenceService/";

struct ControlEntry {
  std::string_view path;
  ControlMethod method;
};

// Unary methods that answer at once.
constexpr std::array kControlMethods = {
    ControlEntry{"/inference.GRPCInferenceService/ServerLive",
                 &control_method<&ControlService::server_live>},
    ControlEntry{"/inference.GRPCInferenceService/ServerReady",
                 &control_method<&ControlService::server_ready>},
    ControlEntry{"/inference.GRPCInferenceService/ModelReady",
                 &control_method<&ControlService::model_ready>},
    ControlEntry{"/inference.GRPCInferenceService/ServerMetadata",
                 &control_method<&ControlService::server_metadata>},
    ControlEntry{"/inference.GRPCInferenceService/ModelMetadata",
                 &control_method<&ControlService::model_metadata>},
    ControlEntry{"/inference.GRPCInferenceService/ModelConfig",
                 &control_method<&ControlService::model_config>},
    ControlEntry{"/inference.GRPCInferenceService/ModelStatistics",
                 &control_method<&ControlService::model_statistics>},
    ControlEntry{"/inference.GRPCInferenceService/RepositoryModelUnload",
                 &control_method<&ControlService::repository_model_unload>},
    ControlEntry{"/inference.GRPCInferenceService/LogSettings",
                 &control_method<&ControlService::log_settings>},
    ControlEntry{"/grpc.health.v1.Health/Check", &control_method<&ControlService::health_check>},
};

// Methods of Triton's service that are not built, by the ends of their names.
constexpr std::array kNotBuilt = {
    std::pair("SharedMemoryStatus", NotBuilt::kSharedMemory),
    std::pair("SharedMemoryRegister", NotBuilt::kSharedMemory),
    std::pair("SharedMemoryUnregister", NotBuilt::kSharedMemory),
    std::pair("TraceSetting", NotBuilt::kTrace),
};

Handler refuse(std::string_view path) {
  if (path.starts_with(kInferenceService)) {
    const std::string_view method = path.substr(kInferenceService.size());
    for (const auto& [end, feature] : kNotBuilt) {
      if (method.ends_with(end)) return std::make_unique<RefusedCall>(not_built(feature));
    }
  }
  return std::make_unique<RefusedCall>(error::unimplemented("unknown method {}", path));
}

}  // namespace

Handler make_grpc_call(std::string_view path, const GrpcServices& services) {
  const FrontendContext& context = services.context;
  if (path == "/inference.GRPCInferenceService/ModelInfer") {
    return std::make_unique<ModelInferCall>(context);
  }
  if (path == "/inference.GRPCInferenceService/ModelStreamInfer") {
    return std::make_unique<StreamInferCall>(context, services.shutdown);
  }
  for (const ControlEntry& entry : kControlMethods) {
    if (entry.path != path) continue;
    return std::make_unique<ControlCall>(context, services.control, entry.method);
  }
  if (path == "/inference.GRPCInferenceService/RepositoryIndex") {
    return std::make_unique<LaterCall<&ControlService::repository_index>>(context, services.control,
                                                                          kControlMessageBytes);
  }
  if (path == "/inference.GRPCInferenceService/RepositoryModelLoad") {
    return std::make_unique<LaterCall<&ControlService::repository_model_load>>(
        context, services.control, context.options.grpc_max_message_bytes);
  }
  if (path == "/grpc.health.v1.Health/Watch") {
    return std::make_unique<HealthWatchCall>(context, services.control, services.shutdown);
  }
  if (path == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" ||
      path == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") {
    return std::make_unique<ReflectionCall>(context);
  }
  return refuse(path);
}

}  // namespace proa::frontends
