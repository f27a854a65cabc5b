#pragma once

#include <memory>
#include <vector>

#include "core/model.h"
#include "core/statistics.h"
#include "observe/families.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

// One model version at the moment of a scrape; `model` outlives it.
struct ModelRow {
  const core::Model* model;
  Labels labels;  // model, version, and _TAG for each of its metric_tags
  core::StatisticsSnapshot counters;
};
std::vector<ModelRow> model_rows(const std::vector<std::shared_ptr<core::Model>>& models);

// The families of counters and gauges that have one metric (or several) per model version;
// `latency_counters`: those of durations too.
std::vector<prometheus::MetricFamily> counter_families(const std::vector<ModelRow>& rows,
                                                       bool latency_counters);

}  // namespace proa::observe
