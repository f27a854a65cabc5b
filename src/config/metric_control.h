#pragma once

#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/problems.h"

namespace inference {
class ModelConfig;
class ModelMetrics;
}  // namespace inference

namespace proa::config {

// The buckets that `model_metrics` gives to histograms, by family. Bounds that are not finite and
// ascending, and a family that is named twice, become problems.
std::map<std::string, std::vector<double>> read_metric_controls(const inference::ModelMetrics& from,
                                                                Problems& problems);

// Adds a warning for each family that is none of kHistogramFamilies.
void warn_of_unknown_families(const inference::ModelMetrics& metrics,
                              std::vector<std::string>& warnings);

// The way back.
void write_metric_controls(const std::map<std::string, std::vector<double>>& buckets,
                           inference::ModelConfig& to);

}  // namespace proa::config
