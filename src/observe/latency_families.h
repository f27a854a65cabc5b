#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "observe/metrics_options.h"
#include "observe/model_families.h"
#include "observe/quantile_window.h"

namespace proa::observe {

// The histograms of each model version, with the buckets of its `model_metrics` or the usual ones.
// `first_response`: nv_inference_first_response_histogram_ms too.
std::vector<prometheus::MetricFamily> histogram_families(const std::vector<ModelRow>& rows,
                                                         bool first_response);

// Triton's nv_inference_*_summary_us, quantiles of the last minute. Threading: thread-safe.
class Summaries {
 public:
  static constexpr std::size_t kFamilies = 5;

  std::vector<prometheus::MetricFamily> collect(const std::vector<ModelRow>& rows,
                                                const std::vector<double>& quantiles,
                                                const Clock& clock) PROA_EXCLUDES(mutex_);

 private:
  using Windows = std::array<QuantileWindow, kFamilies>;
  using ModelRef = std::weak_ptr<const core::Model>;

  Mutex mutex_;
  std::map<ModelRef, Windows, std::owner_less<ModelRef>> windows_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::observe
