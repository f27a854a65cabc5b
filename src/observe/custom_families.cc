#include "observe/custom_families.h"

#include <limits>
#include <utility>

#include "observe/families.h"

namespace proa::observe {
namespace {

using prometheus::MetricType;

MetricType type_of(core::CustomMetrics::Kind kind) {
  switch (kind) {
    case core::CustomMetrics::Kind::kCounter:
      return MetricType::Counter;
    case core::CustomMetrics::Kind::kGauge:
      return MetricType::Gauge;
    case core::CustomMetrics::Kind::kHistogram:
      break;
  }
  return MetricType::Histogram;
}

void add_buckets(const core::CustomMetrics::Metric& from, const Labels& labels,
                 prometheus::MetricFamily& to) {
  prometheus::ClientMetric& metric = to.metric.emplace_back();
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
  metric.histogram.sample_count = from.count;
  metric.histogram.sample_sum = from.value;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < from.buckets.size(); ++i) {
    below += from.buckets[i];
    metric.histogram.bucket.push_back(
        {below, i < from.bounds.size() ? from.bounds[i] : std::numeric_limits<double>::infinity()});
  }
}

}  // namespace

std::vector<prometheus::MetricFamily> custom_families(const core::CustomMetrics& metrics) {
  std::vector<prometheus::MetricFamily> result;
  for (const auto& [name, from] : metrics.families()) {
    auto& to = result.emplace_back(family(name, from.description, type_of(from.kind)));
    for (const auto& [labels, metric] : from.metrics) {
      const Labels pairs(labels.begin(), labels.end());
      if (from.kind == core::CustomMetrics::Kind::kHistogram) {
        add_buckets(metric, pairs, to);
      } else {
        add_value(to, pairs, metric.value);
      }
    }
  }
  return result;
}

}  // namespace proa::observe
