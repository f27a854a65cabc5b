#pragma once

#include <string>
#include <string_view>

#include "frontends/control_service.h"
#include "frontends/http/rest_reply.h"
#include "frontends/http/route_table.h"

namespace proa::frontends {

// What a path of the REST API means.
enum class RestEndpoint : int {
  kInfer,
  kServerMetadata,
  kServerLive,
  kServerReady,
  kModelMetadata,
  kModelReady,
  kModelConfig,
  kModelStatistics,
  kRepositoryIndex,
  kRepositoryLoad,
  kRepositoryUnload,
  kLogSettings,
  kChangeLogSettings,
  kSharedMemory,
  kTrace,
  kGenerate,
  kMetrics,
};

// All routes of KServe v2 with Triton's extensions, and /metrics. Route::endpoint is a
// RestEndpoint. Source: Triton's HTTP/REST API, shared by KServe.
std::span<const Route> rest_routes();

// What to answer, and with what.
struct RestRequest {
  RestEndpoint endpoint = RestEndpoint::kServerLive;
  std::string model;
  std::string version;
  std::string repository = {};
};

// Every endpoint but kInfer, kRepositoryIndex and kRepositoryLoad. `body` is the request's whole
// body.
RestReply answer_rest(const RestRequest& request, std::string_view body,
                      const ControlService& service, const FrontendContext& context);

}  // namespace proa::frontends
