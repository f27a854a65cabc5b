#include "observe/families.h"

#include <cmath>
#include <limits>

namespace proa::observe {
namespace {

prometheus::ClientMetric metric(const Labels& labels) {
  prometheus::ClientMetric result;
  for (const auto& [name, value] : labels) result.label.push_back({name, value});
  return result;
}

// `unit` = how many of the histogram's integers make one of the metric's.
void add_scaled(prometheus::MetricFamily& to, const Labels& labels, const Histogram& values,
                const std::vector<double>& bounds, double unit) {
  prometheus::ClientMetric result = metric(labels);
  // The buckets are read first, so that no bucket counts more than the total.
  for (const double bound : bounds) {
    const auto limit = static_cast<std::uint64_t>(std::llround(bound * unit));
    result.histogram.bucket.push_back({values.count_at_most(limit), bound});
  }
  result.histogram.sample_count = values.count();
  result.histogram.sample_sum = static_cast<double>(values.sum()) / unit;
  result.histogram.bucket.push_back(
      {result.histogram.sample_count, std::numeric_limits<double>::infinity()});
  to.metric.push_back(std::move(result));
}

}  // namespace

prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type) {
  return {std::move(name), std::move(help), type, {}};
}

void add_value(prometheus::MetricFamily& to, const Labels& labels, double value) {
  prometheus::ClientMetric result = metric(labels);
  if (to.type == prometheus::MetricType::Counter) {
    result.counter.value = value;
  } else {
    result.gauge.value = value;
  }
  to.metric.push_back(std::move(result));
}

void add_duration_histogram(prometheus::MetricFamily& to, const Labels& labels,
                            const Histogram& values_us, const std::vector<double>& bounds_seconds) {
  add_scaled(to, labels, values_us, bounds_seconds, 1e6);
}

void add_histogram(prometheus::MetricFamily& to, const Labels& labels, const Histogram& values,
                   const std::vector<double>& bounds) {
  add_scaled(to, labels, values, bounds, 1);
}

}  // namespace proa::observe
