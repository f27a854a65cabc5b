#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/custom_metrics.h"
#include "core/model.h"
#include "observe/latency_families.h"
#include "observe/metrics_options.h"
#include "observe/process.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

// A figure of the server as a whole that its owner hands over, such as open connections.
struct ServerFigure {
  enum class Kind : std::uint8_t { kCounter, kGauge };
  std::string name;  // "proa_connections_open"
  std::string help;
  Kind kind = Kind::kGauge;
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

// The metrics of a server in Prometheus text format: Triton's nv_* counters and gauges with their
// labels, and proa's own families (docs/metrics.md lists all).
// Threading: thread-safe.
class Metrics {
 public:
  // Source: https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4.
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // `clock` outlives it.
  explicit Metrics(MetricsOptions options, const Clock& clock = steady_clock());

  // `custom` are the metrics of models themselves; null = none.
  std::string render(const std::vector<std::shared_ptr<core::Model>>& models,
                     const std::vector<ServerFigure>& server,
                     const core::CustomMetrics* custom = nullptr);

 private:
  const MetricsOptions options_;
  const Clock& clock_;
  Summaries summaries_;
  ProcessMeter process_;
};

}  // namespace proa::observe
