#pragma once

#include <memory>
#include <vector>

#include "core/model.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

// The families that have one metric (or several) per model version.
std::vector<prometheus::MetricFamily> model_families(
    const std::vector<std::shared_ptr<core::Model>>& models);

}  // namespace proa::observe
