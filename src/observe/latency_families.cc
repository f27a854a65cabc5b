#include "observe/latency_families.h"

#include "observe/families.h"

namespace proa::observe {
namespace {

using core::ModelStatistics;
using prometheus::MetricFamily;
using prometheus::MetricType;
using HistogramOf = const Histogram& (ModelStatistics::*)() const;

// From 100 us to 10 s, about three a decade.
const std::vector<double> kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                      0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
const std::vector<double> kBatchSizes = {1, 2, 4, 8, 16, 32, 64, 128, 256};
// Triton's.
const std::vector<double> kFirstResponseMs = {100, 500, 2000, 5000};

struct HistogramFamily {
  const char* name;  // one of config::kHistogramFamilies
  const char* help;
  HistogramOf histogram;
  const std::vector<double>& bounds;
  double unit;  // how many of the histogram's integers make one of the family's
};

const HistogramFamily kHistograms[] = {
    {"proa_request_duration_seconds", "From a request's last byte to its last response",
     &ModelStatistics::request_us, kSeconds, 1e6},
    {"proa_queue_duration_seconds", "From a request's acceptance to its batch",
     &ModelStatistics::queue_us, kSeconds, 1e6},
    {"proa_compute_duration_seconds",
     "Computation of a request's batch, inputs and outputs included", &ModelStatistics::compute_us,
     kSeconds, 1e6},
    {"proa_batch_size", "Inferences per execution", &ModelStatistics::batch_size, kBatchSizes, 1}};

const HistogramFamily kFirstResponse = {"nv_inference_first_response_histogram_ms",
                                        "Duration from request to first response in milliseconds",
                                        &ModelStatistics::request_us, kFirstResponseMs, 1e3};

MetricFamily collect_histogram(const HistogramFamily& source, const std::vector<ModelRow>& rows) {
  MetricFamily result = family(source.name, source.help, MetricType::Histogram);
  for (const ModelRow& row : rows) {
    const auto& chosen = row.model->config().histogram_buckets;
    const auto found = chosen.find(source.name);
    add_histogram(result, row.labels, (row.model->statistics().*source.histogram)(),
                  found != chosen.end() ? found->second : source.bounds, source.unit);
  }
  return result;
}

struct SummaryFamily {
  const char* name;
  const char* help;
  HistogramOf histogram;
};

const SummaryFamily kSummaries[Summaries::kFamilies] = {
    {"nv_inference_request_summary_us",
     "Summary of inference request duration in microseconds (includes cached requests)",
     &ModelStatistics::request_us},
    {"nv_inference_queue_summary_us",
     "Summary of inference queuing duration in microseconds (includes cached requests)",
     &ModelStatistics::queue_us},
    {"nv_inference_compute_input_summary_us",
     "Summary of compute input duration in microseconds (does not include cached requests)",
     &ModelStatistics::compute_input_us},
    {"nv_inference_compute_infer_summary_us",
     "Summary of compute inference duration in microseconds (does not include cached requests)",
     &ModelStatistics::compute_infer_us},
    {"nv_inference_compute_output_summary_us",
     "Summary of compute output duration in microseconds (does not include cached requests)",
     &ModelStatistics::compute_output_us}};

}  // namespace

std::vector<MetricFamily> histogram_families(const std::vector<ModelRow>& rows,
                                             bool first_response) {
  std::vector<MetricFamily> families;
  for (const HistogramFamily& source : kHistograms) {
    families.push_back(collect_histogram(source, rows));
  }
  if (!first_response) return families;
  // The only response of a model that is not decoupled is its first; of others it is not recorded.
  std::vector<ModelRow> single;
  for (const ModelRow& row : rows) {
    if (!row.model->config().decoupled) single.push_back(row);
  }
  families.push_back(collect_histogram(kFirstResponse, single));
  return families;
}

std::vector<MetricFamily> Summaries::collect(const std::vector<ModelRow>& rows,
                                             const std::vector<double>& quantiles,
                                             const Clock& clock) {
  std::vector<MetricFamily> families;
  for (const SummaryFamily& source : kSummaries) {
    families.push_back(family(source.name, source.help, MetricType::Summary));
  }
  MutexLock lock(mutex_);
  const TimePoint now = clock.now();
  std::erase_if(windows_, [](const auto& entry) { return entry.first.expired(); });
  for (const ModelRow& row : rows) {
    Windows& windows = windows_[row.model->weak_from_this()];
    for (std::size_t i = 0; i < kFamilies; ++i) {
      const Histogram& histogram = (row.model->statistics().*kSummaries[i].histogram)();
      add_summary(families[i], row.labels, histogram, windows[i].look(histogram, now), quantiles);
    }
  }
  return families;
}

}  // namespace proa::observe
