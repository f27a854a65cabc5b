#include "loadgen/report/report_level.h"

#include <algorithm>
#include <string_view>

#include "loadgen/report/stages.h"
#include "loadgen/report/units.h"

namespace proa::loadgen {
namespace {

std::string_view shape_name(LoadShape shape) {
  switch (shape) {
    case LoadShape::kConcurrency:
      return "concurrency";
    case LoadShape::kConstantRate:
      return "constant_rate";
    case LoadShape::kPoissonRate:
      return "poisson_rate";
    case LoadShape::kArrivals:
      return "arrivals";
    case LoadShape::kStages:
      return "stages";
  }
  return "";
}

std::string_view reason_name(Instability reason) {
  switch (reason) {
    case Instability::kNone:
      return "none";
    case Instability::kDrift:
      return "drift";
    case Instability::kBimodal:
      return "bimodal";
    case Instability::kGeneratorSaturated:
      return "generator_saturated";
    case Instability::kServerOverloaded:
      return "server_overloaded";
    case Instability::kFewRequests:
      return "few_requests";
    case Instability::kErrors:
      return "errors";
    case Instability::kTooFewWindows:
      return "too_few_windows";
    case Instability::kNoise:
      return "noise";
  }
  return "";
}

// At most this many points of a curve go into a report, beside its last percent.
constexpr std::size_t kMaxCurvePoints = 300;

void fill_cdf(const LatencyHistogram& histogram, bench::Latency& out) {
  const auto buckets = histogram.buckets();
  // Every bucket that moves the share by 1/kMaxCurvePoints; in the last percent, which plots show
  // by its logarithm, every one that leaves 2 % fewer behind it.
  std::uint64_t below = 0;
  double last_share = -1;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    below += buckets[i].count;
    const double share = static_cast<double>(below) / static_cast<double>(histogram.count());
    const bool last = i + 1 == buckets.size();
    const bool moves = share < 0.99 ? share - last_share >= 1.0 / kMaxCurvePoints
                                    : 1 - share <= 0.98 * (1 - last_share);
    if (!last && !moves) continue;
    bench::CdfPoint& point = *out.add_cdf();
    point.set_us(us(std::min(buckets[i].upper_bound, histogram.max())));
    point.set_share(share);
    last_share = share;
  }
}

bench::Latency make_latency(const LatencyHistogram& histogram, std::optional<double> percentile,
                            bool with_cdf) {
  bench::Latency out;
  out.set_count(histogram.count());
  if (histogram.count() == 0) return out;
  out.set_mean_us(us(histogram.mean()));
  out.set_standard_deviation_us(us(histogram.standard_deviation()));
  out.set_min_us(us(histogram.min()));
  out.set_p50_us(us(histogram.quantile(0.50)));
  out.set_p90_us(us(histogram.quantile(0.90)));
  out.set_p95_us(us(histogram.quantile(0.95)));
  out.set_p99_us(us(histogram.quantile(0.99)));
  out.set_p99_9_us(us(histogram.quantile(0.999)));
  out.set_max_us(us(histogram.max()));
  if (percentile) out.set_chosen_us(us(histogram.quantile(*percentile / 100)));
  if (with_cdf) fill_cdf(histogram, out);
  return out;
}

bench::Counts make_counts(const Counts& counts) {
  bench::Counts out;
  out.set_sent(counts.sent);
  out.set_completed(counts.completed);
  out.set_inferences(counts.inferences);
  out.set_responses(counts.responses);
  out.set_errors(counts.errors);
  out.set_late(counts.late);
  out.set_bytes_sent(counts.bytes_sent);
  out.set_bytes_received(counts.bytes_received);
  return out;
}

bench::StageTime make_stage(const StageTime& time) {
  bench::StageTime out;
  out.set_count(time.count);
  out.set_mean_us(time.mean_us());
  return out;
}

void add_batch_sizes(const std::vector<ServerModelStatistics::BatchSize>& sizes, auto* out) {
  for (const auto& size : sizes) {
    bench::BatchSize& entry = *out->Add();
    entry.set_size(size.size);
    entry.set_executions(size.executions);
  }
}

void fill_server_model(const ServerModelStatistics& model, bench::ServerModel& out) {
  out.set_name(model.model);
  out.set_version(model.version);
  out.set_composing(model.composing);
  out.set_inference_count(model.inference_count);
  out.set_execution_count(model.execution_count);
  *out.mutable_success() = make_stage(model.success);
  *out.mutable_fail() = make_stage(model.fail);
  *out.mutable_queue() = make_stage(model.queue);
  *out.mutable_compute_input() = make_stage(model.compute_input);
  *out.mutable_compute_infer() = make_stage(model.compute_infer);
  *out.mutable_compute_output() = make_stage(model.compute_output);
  *out.mutable_cache_hit() = make_stage(model.cache_hit);
  *out.mutable_cache_miss() = make_stage(model.cache_miss);
  add_batch_sizes(model.batch_sizes, out.mutable_batch_sizes());
}

void fill_health(const GeneratorHealth& health, bench::Health& out) {
  out.set_threads(health.threads);
  out.set_busy(health.busy);
  out.set_waited(health.waited);
  out.set_stolen(health.stolen);
  out.set_cpu_us_per_request(health.cpu_us_per_request);
  out.set_asked_rate(health.asked_rate);
  out.set_sent_rate(health.sent_rate);
  *out.mutable_lateness() = make_latency(health.lateness, std::nullopt, false);
  out.set_late_share(health.late_share);
  out.set_late_bound_us(us(health.late_bound));
  out.set_connections(health.connections);
  out.set_reconnects(health.reconnects);
  out.set_saturated(health.saturated);
  out.set_reason(health.reason);
}

void fill_stability(const Stability& stability, bench::Stability& out) {
  out.set_stable(stability.stable);
  out.set_rate_spread(stability.rate_spread);
  out.set_latency_spread(stability.latency_spread);
  out.set_reason(reason_name(stability.reason).data());
  out.set_text(stability.text);
}

void fill_window(const Window& window, std::optional<double> percentile, bench::Window& out) {
  out.set_start_s(seconds(window.start));
  out.set_duration_s(seconds(window.duration));
  out.set_used(window.used);
  out.set_requests_per_second(window.requests_per_second());
  out.set_completed(window.counts.completed);
  out.set_errors(window.counts.errors);
  const LatencyHistogram& latency = window.latency;
  if (latency.count() == 0) return;
  out.set_mean_us(us(latency.mean()));
  out.set_p50_us(us(latency.quantile(0.50)));
  out.set_p99_us(us(latency.quantile(0.99)));
  out.set_max_us(us(latency.max()));
  if (percentile) out.set_chosen_us(us(latency.quantile(*percentile / 100)));
}

void fill_series(const Pass& pass, bench::Level& level) {
  for (const SeriesPoint& point : pass.series) {
    bench::SeriesPoint& out = *level.add_series();
    out.set_start_s(seconds(point.start));
    out.set_duration_s(seconds(point.duration));
    out.set_completed_per_second(rate(point.counts.completed, point.duration));
    out.set_asked_per_second(point.asked_rate);
    out.set_errors_per_second(rate(point.counts.errors, point.duration));
    out.set_in_flight(point.in_flight);
    out.set_p50_us(us(point.p50));
    out.set_p99_us(us(point.p99));
    out.set_max_us(us(point.max));
  }
}

void fill_models(const Pass& pass, const RunResult& run, bench::Level& level) {
  for (std::size_t i = 0; i < pass.models.size(); ++i) {
    bench::ModelPart& out = *level.add_models();
    if (i < run.models.size()) out.set_name(run.models[i].signature.name);
    *out.mutable_counts() = make_counts(pass.models[i].counts);
    *out.mutable_latency() =
        make_latency(pass.models[i].latencies.from_due, run.settings.percentile, false);
    out.set_inferences_per_second(rate(pass.models[i].counts.inferences, pass.measured));
  }
}

void fill_server(const Pass& pass, bench::Level& level) {
  *level.mutable_stages() = make_stages(pass);
  add_batch_sizes(batch_sizes(pass), level.mutable_batch_sizes());
  for (const ServerModelStatistics& model : pass.server) {
    fill_server_model(model, *level.add_server());
  }
  for (const ServerMetric& metric : pass.metrics) {
    bench::Metric& out = *level.add_metrics();
    out.set_name(metric.name);
    out.set_before(metric.before);
    out.set_after(metric.after);
  }
}

}  // namespace

bench::Level make_level(const Pass& pass, const RunResult& run) {
  bench::Level level;
  const std::optional<double> percentile = run.settings.percentile;
  level.set_shape(shape_name(pass.shape).data());
  level.set_load(pass.load);
  level.set_name(pass.load_text);
  level.set_open_loop(pass.open_loop());
  level.set_duration_s(seconds(pass.duration));
  level.set_valid(pass.valid);
  level.set_interrupted(pass.interrupted);
  level.set_measured_s(seconds(pass.measured));
  *level.mutable_counts() = make_counts(pass.counts);
  level.set_requests_per_second(pass.requests_per_second());
  level.set_inferences_per_second(pass.inferences_per_second());
  level.set_responses_per_second(pass.responses_per_second());
  level.set_errors_per_second(pass.errors_per_second());
  *level.mutable_latency() = make_latency(pass.latencies.from_due, percentile, true);
  *level.mutable_latency_from_send() = make_latency(pass.latencies.from_send, percentile, true);
  fill_server(pass, level);
  fill_models(pass, run, level);
  fill_stability(pass.stability, *level.mutable_stability());
  fill_health(pass.health, *level.mutable_health());
  for (const Window& window : pass.windows) fill_window(window, percentile, *level.add_windows());
  fill_series(pass, level);
  for (const ErrorGroup& group : pass.errors) {
    bench::ErrorGroup& out = *level.add_errors();
    out.set_kind(group.kind);
    out.set_count(group.count);
    out.set_sample(group.sample);
  }
  return level;
}

}  // namespace proa::loadgen
