#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "prometheus/metric_family.h"

namespace proa::observe {

using Labels = std::vector<std::pair<std::string, std::string>>;

// An empty family to add metrics to.
prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type);

// Adds one value to a family of counters or gauges.
void add_value(prometheus::MetricFamily& to, const Labels& labels, double value);

// Adds a histogram; `bounds` ascending. `unit` = how many of the histogram's integers make one of
// the metric's: 1e6 for microseconds shown as seconds.
void add_histogram(prometheus::MetricFamily& to, const Labels& labels, const Histogram& values,
                   const std::vector<double>& bounds, double unit);

// Adds a summary: count and sum of `all`, quantiles of `recent`, in the histogram's unit. NaN where
// nothing is recent.
void add_summary(prometheus::MetricFamily& to, const Labels& labels, const Histogram& all,
                 const Histogram::Counts& recent, const std::vector<double>& quantiles);

}  // namespace proa::observe
