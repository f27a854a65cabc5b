#include "frontends/frontend.h"

#include <utility>

#include "frontends/grpc/grpc_methods.h"
#include "frontends/grpc/grpc_text.h"
#include "frontends/http/infer_rest_call.h"
#include "frontends/http/repository_rest_call.h"
#include "frontends/http/rest_call.h"
#include "frontends/http/rest_endpoints.h"
#include "lifecycle/model_repository.h"

namespace proa::frontends {

Frontend::Frontend(FrontendContext context)
    : context_(std::move(context)), control_(context_, shutdown_), routes_(rest_routes()) {}

net::HandlerFactory Frontend::factory(Services services) {
  return [this, services](const net::RequestHead& head) { return make(head, services); };
}

Frontend::Handler Frontend::make(const net::RequestHead& head, Services services) {
  if (services.grpc && head.http_major == 2) {
    const std::string_view content_type = head.header("content-type");
    if (content_type.starts_with("application/grpc")) {
      return is_grpc_content_type(content_type)
                 ? make_grpc(head)
                 : std::make_unique<FixedReply>(error_reply(
                       415, "content-type must be application/grpc or application/grpc+proto"));
    }
  }
  return make_rest(head, services);
}

Frontend::Handler Frontend::make_grpc(const net::RequestHead& head) {
  if (head.method != "POST") {
    RestReply reply = error_reply(405, "gRPC calls are POST requests");
    reply.allow = "POST";
    return std::make_unique<FixedReply>(std::move(reply));
  }
  return make_grpc_call(head.target, {context_, control_, shutdown_});
}

Frontend::Handler Frontend::make_rest(const net::RequestHead& head, Services services) {
  using Kind = RouteTable::Match::Kind;
  const RequestPath path(head.target);
  RouteTable::Match match = routes_.find(head.method, path);
  const auto endpoint = static_cast<RestEndpoint>(match.endpoint);
  const bool carried = endpoint == RestEndpoint::kMetrics ? services.metrics : services.rest;
  if (match.kind == Kind::kWrongMethod && services.rest) {
    RestReply reply =
        error_reply(405, fmt::format("{} is not allowed here; use {}", head.method, match.allow));
    reply.allow = std::move(match.allow);
    return std::make_unique<FixedReply>(std::move(reply));
  }
  if (match.kind != Kind::kFound || !carried) {
    return std::make_unique<FixedReply>(
        error_reply(404, fmt::format("no such path: {}", head.target)));
  }
  const auto [model_name, version, repository] = match.arguments;
  if (endpoint != RestEndpoint::kInfer) {
    RestRequest request{endpoint, std::string(model_name), std::string(version),
                        std::string(repository)};
    if (endpoint == RestEndpoint::kRepositoryIndex || endpoint == RestEndpoint::kRepositoryLoad) {
      return std::make_unique<RepositoryRestCall>(context_, control_, std::move(request));
    }
    return std::make_unique<ControlRestCall>(context_, control_, std::move(request));
  }
  auto model = context_.repository->find(model_name, version);
  if (!model) return std::make_unique<FixedReply>(error_reply(model.error()));
  return std::make_unique<InferRestCall>(context_, std::move(*model));
}

}  // namespace proa::frontends
