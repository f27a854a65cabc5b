#include "observe/families.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace proa::observe {
namespace {

prometheus::ClientMetric metric(const Labels& labels) {
  prometheus::ClientMetric result;
  for (const auto& [name, value] : labels) result.label.push_back({name, value});
  return result;
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

void add_histogram(prometheus::MetricFamily& to, const Labels& labels, const Histogram& values,
                   const std::vector<double>& bounds, double unit) {
  constexpr double kRounding = 1e-6;  // 0.0001 s are 100 us, not 99.99...
  constexpr double kMost = std::uint64_t{1} << Histogram::kMaxExponent;
  prometheus::ClientMetric result = metric(labels);
  const Histogram::Counts counts = values.counts();
  std::size_t next = 0;
  std::uint64_t cumulative = 0;
  for (const double bound : bounds) {
    const double limit = std::clamp(bound * unit + kRounding, 0.0, kMost);
    const std::size_t last = Histogram::bucket_of(static_cast<std::uint64_t>(limit));
    while (next <= last) cumulative += counts[next++];
    result.histogram.bucket.push_back({cumulative, bound});
  }
  while (next < counts.size()) cumulative += counts[next++];
  result.histogram.bucket.push_back({cumulative, std::numeric_limits<double>::infinity()});
  result.histogram.sample_count = cumulative;
  result.histogram.sample_sum = static_cast<double>(values.sum()) / unit;
  to.metric.push_back(std::move(result));
}

void add_summary(prometheus::MetricFamily& to, const Labels& labels, const Histogram& all,
                 const Histogram::Counts& recent, const std::vector<double>& quantiles) {
  prometheus::ClientMetric result = metric(labels);
  result.summary.sample_count = all.count();
  result.summary.sample_sum = static_cast<double>(all.sum());
  const bool none = std::ranges::all_of(recent, [](std::uint64_t count) { return count == 0; });
  for (const double quantile : quantiles) {
    result.summary.quantile.push_back(
        {quantile, none ? std::numeric_limits<double>::quiet_NaN()
                        : static_cast<double>(Histogram::quantile(recent, quantile))});
  }
  to.metric.push_back(std::move(result));
}

}  // namespace proa::observe
