#include "config/metric_control.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

std::string path_of(int control, std::string_view field) {
  return fmt::format("model_metrics.metric_control[{}].{}", control, field);
}

bool are_bounds(const std::vector<double>& bounds) {
  const auto rises = [](double low, double high) { return low < high; };
  return !bounds.empty() &&
         std::ranges::all_of(bounds, [](double b) { return std::isfinite(b); }) &&
         std::ranges::adjacent_find(bounds, std::not_fn(rises)) == bounds.end();
}

}  // namespace

std::map<std::string, std::vector<double>> read_metric_controls(const inference::ModelMetrics& from,
                                                                Problems& problems) {
  std::map<std::string, std::vector<double>> buckets;
  for (int i = 0; i < from.metric_control_size(); ++i) {
    const auto& control = from.metric_control(i);
    if (!control.has_histogram_options()) continue;
    const auto& given = control.histogram_options().buckets();
    std::vector<double> bounds(given.begin(), given.end());
    if (!are_bounds(bounds)) {
      problems.add(
          path_of(i, "histogram_options.buckets"),
          fmt::format("[{}] are no bounds of buckets: give at least one number, each larger "
                      "than the one before",
                      fmt::join(bounds, ", ")));
    }
    const std::string& family = control.metric_identifier().family();
    if (!buckets.emplace(family, std::move(bounds)).second) {
      problems.add(path_of(i, "metric_identifier.family"),
                   fmt::format("'{}' has its buckets already: remove one of the two entries",
                               log::printable(family)));
    }
  }
  return buckets;
}

void warn_of_unknown_families(const inference::ModelMetrics& metrics,
                              std::vector<std::string>& warnings) {
  for (int i = 0; i < metrics.metric_control_size(); ++i) {
    const std::string& family = metrics.metric_control(i).metric_identifier().family();
    if (std::ranges::find(kHistogramFamilies, family) != std::end(kHistogramFamilies)) continue;
    warnings.push_back(fmt::format("{} has no effect: there is no histogram '{}'; there are {}",
                                   path_of(i, "metric_identifier.family"), log::printable(family),
                                   fmt::join(kHistogramFamilies, ", ")));
  }
}

void write_metric_controls(const std::map<std::string, std::vector<double>>& buckets,
                           inference::ModelConfig& to) {
  for (const auto& [family, bounds] : buckets) {
    auto& control = *to.mutable_model_metrics()->add_metric_control();
    control.mutable_metric_identifier()->set_family(family);
    control.mutable_histogram_options()->mutable_buckets()->Add(bounds.begin(), bounds.end());
  }
}

}  // namespace proa::config
