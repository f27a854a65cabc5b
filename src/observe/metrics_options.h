#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::observe {

// What `proa serve` was asked to export; names and defaults are those of Triton's flags.
struct MetricsOptions {
  bool cpu = true;  // --allow-cpu-metrics: nv_cpu_*
  bool gpu = true;  // --allow-gpu-metrics: nv_gpu_*
  // --metrics-interval-ms: machine figures are measured over at least this long.
  std::chrono::milliseconds interval{2000};

  // --metrics-config NAME=VALUE
  bool counter_latencies = true;     // nv_inference_*_duration_us
  bool histogram_latencies = false;  // nv_inference_first_response_histogram_ms
  bool summary_latencies = false;    // nv_inference_*_summary_us
  std::vector<double> summary_quantiles = {0.5, 0.9, 0.95, 0.99, 0.999};
};

// Applies one "NAME=VALUE" of --metrics-config. VALUE of summary_quantiles is
// "QUANTILE:ERROR,...", "0.5:0.05,0.99:0.001"; the errors are checked and otherwise not needed.
// Errors: kInvalidArgument; `options` is unchanged then.
Status set_metrics_option(MetricsOptions& options, std::string_view text);

}  // namespace proa::observe
