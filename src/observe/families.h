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

// Adds a histogram of values in microseconds, as seconds; `bounds_seconds` ascending.
void add_duration_histogram(prometheus::MetricFamily& to, const Labels& labels,
                            const Histogram& values_us, const std::vector<double>& bounds_seconds);

// Adds a histogram of plain numbers.
void add_histogram(prometheus::MetricFamily& to, const Labels& labels, const Histogram& values,
                   const std::vector<double>& bounds);

}  // namespace proa::observe
