#include "server_figures.h"

#include <string>
#include <utility>

namespace proa {
namespace {

using Figure = observe::ServerFigure;
using Labels = std::vector<std::pair<std::string, std::string>>;

Figure counter(std::string name, std::string help, Labels labels, std::uint64_t value) {
  return {std::move(name), std::move(help), Figure::Kind::kCounter, std::move(labels),
          static_cast<double>(value)};
}

Figure gauge(std::string name, std::string help, Labels labels, std::uint64_t value) {
  return {std::move(name), std::move(help), Figure::Kind::kGauge, std::move(labels),
          static_cast<double>(value)};
}

}  // namespace

std::vector<Figure> server_figures(const net::NetStats& net, const core::MemoryBudget& budget) {
  const std::string connections = "proa_connections_total";
  const std::string connections_help = "Connections by what became of them";
  const std::string requests = "proa_http_requests_total";
  const std::string requests_help = "HTTP requests by version; gRPC calls are version 2";
  const std::string bytes = "proa_network_bytes_total";
  const std::string bytes_help = "Bytes by direction";
  return {
      gauge("proa_build_info", "Always 1; its label says which version runs",
            {{"version", PROA_VERSION}}, 1),
      gauge("proa_connections_open", "Open connections", {}, net.connections_open),
      counter(connections, connections_help, {{"result", "accepted"}}, net.connections_accepted),
      counter(connections, connections_help, {{"result", "refused"}}, net.connections_refused),
      counter(connections, connections_help, {{"result", "abused"}}, net.connections_abused),
      counter(connections, connections_help, {{"result", "accept_error"}}, net.accept_errors),
      counter("proa_streams_reset_total", "HTTP/2 streams that clients reset before their answer",
              {}, net.streams_reset),
      counter(requests, requests_help, {{"version", "1"}}, net.http1_requests),
      counter(requests, requests_help, {{"version", "2"}}, net.http2_requests),
      counter(bytes, bytes_help, {{"direction", "received"}}, net.bytes_received),
      counter(bytes, bytes_help, {{"direction", "sent"}}, net.bytes_sent),
      gauge("proa_in_flight_bytes", "Bytes that requests in flight hold", {}, budget.used()),
      gauge("proa_in_flight_limit_bytes", "Bytes that requests in flight may hold", {},
            budget.limit()),
  };
}

std::vector<Figure> repository_figures(const lifecycle::ModelRepository& repository) {
  std::vector<Figure> figures = {gauge("proa_ready",
                                       "1 when the server is ready (GET /v2/health/ready)", {},
                                       repository.ready() ? 1 : 0)};
  const lifecycle::LoadCounts loads = repository.load_counts();
  const std::string loads_help = "Loads of models, the first and later ones, by how they ended";
  figures.push_back(
      counter("proa_model_loads_total", loads_help, {{"result", "ok"}}, loads.succeeded));
  figures.push_back(
      counter("proa_model_loads_total", loads_help, {{"result", "failed"}}, loads.failed));
  for (const lifecycle::VersionStatus& status : repository.index()) {
    if (status.reason == lifecycle::kUnloaded) continue;  // nobody misses it
    figures.push_back(gauge("proa_model_ready",
                            "1 when the model version is ready; the index says why it is not",
                            {{"model", status.model}, {"version", status.version}},
                            status.state == lifecycle::VersionState::kReady ? 1 : 0));
  }
  return figures;
}

}  // namespace proa
