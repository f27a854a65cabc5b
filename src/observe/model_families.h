#pragma once

#include <vector>

#include "observe/metrics.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

// The families that have one metric (or several) per model version.
std::vector<prometheus::MetricFamily> model_families(const std::vector<ModelFigures>& models);

}  // namespace proa::observe
