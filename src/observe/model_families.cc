#include "observe/model_families.h"

#include <span>

#include "fmt/format.h"
#include "observe/families.h"

namespace proa::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

using Row = ModelRow;

double microseconds(const core::CountedTime& time) { return static_cast<double>(time.ns / 1000); }

// Triton's families with a single value per model. Source: Triton's metrics documentation.
struct ValueFamily {
  const char* name;
  const char* help;
  MetricType type;
  double (*value)(const Row& row);
};

const ValueFamily kValueFamilies[] = {
    {"nv_inference_request_success", "Number of successful inference requests, all batch sizes",
     MetricType::Counter,
     [](const Row& row) { return static_cast<double>(row.counters.success.count); }},
    {"nv_inference_count", "Number of inferences performed (does not include cached requests)",
     MetricType::Counter,
     [](const Row& row) { return static_cast<double>(row.counters.inference_count); }},
    {"nv_inference_exec_count",
     "Number of model executions performed (does not include cached requests)", MetricType::Counter,
     [](const Row& row) { return static_cast<double>(row.counters.execution_count); }},
    {"nv_inference_pending_request_count",
     "Instantaneous number of pending requests awaiting execution per-model.", MetricType::Gauge,
     [](const Row& row) { return static_cast<double>(row.counters.pending); }},
    {"nv_model_load_duration_secs", "Model load time in seconds", MetricType::Gauge,
     [](const Row& row) { return std::chrono::duration<double>(row.model->load_time()).count(); }},
};

const ValueFamily kLatencyCounters[] = {
    {"nv_inference_request_duration_us",
     "Cumulative inference request duration in microseconds (includes cached requests)",
     MetricType::Counter, [](const Row& row) { return microseconds(row.counters.success); }},
    {"nv_inference_queue_duration_us",
     "Cumulative inference queuing duration in microseconds (includes cached requests)",
     MetricType::Counter, [](const Row& row) { return microseconds(row.counters.queue); }},
    {"nv_inference_compute_input_duration_us",
     "Cumulative compute input duration in microseconds (does not include cached requests)",
     MetricType::Counter, [](const Row& row) { return microseconds(row.counters.compute_input); }},
    {"nv_inference_compute_infer_duration_us",
     "Cumulative compute inference duration in microseconds (does not include cached requests)",
     MetricType::Counter, [](const Row& row) { return microseconds(row.counters.compute_infer); }},
    {"nv_inference_compute_output_duration_us",
     "Cumulative inference compute output duration in microseconds (does not include cached "
     "requests)",
     MetricType::Counter, [](const Row& row) { return microseconds(row.counters.compute_output); }},
};

Labels with(Labels labels, std::string name, std::string value) {
  labels.emplace_back(std::move(name), std::move(value));
  return labels;
}

Labels model_labels(const core::Model& model) {
  Labels labels = {{"model", model.name()}, {"version", model.version_string()}};
  for (const auto& [tag, value] : model.config().metric_tags) labels.emplace_back("_" + tag, value);
  return labels;
}

MetricFamily failures(const std::vector<Row>& rows) {
  MetricFamily result =
      family("nv_inference_request_failure", "Number of failed inference requests, all batch sizes",
             MetricType::Counter);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < core::kFailureReasons; ++i) {
      const auto reason = static_cast<core::FailureReason>(i);
      add_value(result, with(row.labels, "reason", std::string(failure_reason_name(reason))),
                static_cast<double>(row.counters.failures[i]));
    }
  }
  return result;
}

MetricFamily batch_closes(const std::vector<Row>& rows) {
  MetricFamily result =
      family("proa_batch_closed_total",
             "Batches by the reason why no further request was waited for", MetricType::Counter);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < core::kCloseReasons; ++i) {
      const auto reason = static_cast<core::CloseReason>(i);
      add_value(result, with(row.labels, "reason", std::string(close_reason_name(reason))),
                static_cast<double>(row.counters.close_reasons[i]));
    }
  }
  return result;
}

MetricFamily instance_busy(const std::vector<Row>& rows) {
  MetricFamily result = family("proa_instance_busy_seconds_total",
                               "Time during which the instance had a batch; its rate is the busy "
                               "share (0 to 1)",
                               MetricType::Counter);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.counters.instance_busy_ns.size(); ++i) {
      add_value(result, with(row.labels, "model_instance", std::to_string(i)),
                static_cast<double>(row.counters.instance_busy_ns[i]) * 1e-9);
    }
  }
  return result;
}

void add_values(std::span<const ValueFamily> values, const std::vector<Row>& rows,
                std::vector<MetricFamily>& to) {
  for (const ValueFamily& value : values) {
    MetricFamily& added = to.emplace_back(family(value.name, value.help, value.type));
    for (const Row& row : rows) add_value(added, row.labels, value.value(row));
  }
}

}  // namespace

std::vector<ModelRow> model_rows(const std::vector<std::shared_ptr<core::Model>>& models) {
  std::vector<ModelRow> rows;
  for (const auto& model : models) {
    rows.push_back({model.get(), model_labels(*model), model->statistics().snapshot()});
  }
  return rows;
}

std::vector<MetricFamily> counter_families(const std::vector<ModelRow>& rows,
                                           bool latency_counters) {
  std::vector<MetricFamily> families;
  add_values(kValueFamilies, rows, families);
  if (latency_counters) add_values(kLatencyCounters, rows, families);
  families.push_back(failures(rows));
  families.push_back(batch_closes(rows));
  families.push_back(instance_busy(rows));
  return families;
}

}  // namespace proa::observe
