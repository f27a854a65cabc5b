#pragma once

#include <vector>

#include "core/custom_metrics.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

// The metrics that models define themselves.
std::vector<prometheus::MetricFamily> custom_families(const core::CustomMetrics& metrics);

}  // namespace proa::observe
