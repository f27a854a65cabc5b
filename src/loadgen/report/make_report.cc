#include "loadgen/report/make_report.h"

#include <ctime>

#include "loadgen/report/notes.h"
#include "loadgen/report/report_level.h"
#include "loadgen/report/units.h"

namespace proa::loadgen {
namespace {

std::string utc(std::int64_t unix_ms) {
  const std::time_t time = unix_ms / 1000;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void fill_settings(const RunSettings& settings, bench::Settings& out) {
  out.set_count_windows(settings.count_windows);
  out.set_measurement_interval_s(seconds(settings.measurement_interval));
  out.set_measurement_request_count(settings.measurement_request_count);
  out.set_stability_percentage(settings.stability_percentage);
  out.set_max_trials(settings.max_trials);
  if (settings.percentile) out.set_percentile(*settings.percentile);
  out.set_latency_threshold_us(us(settings.latency_threshold));
  out.set_threads(settings.threads);
  out.set_seed(settings.seed);
  for (const std::string& other : settings.others) out.add_others(other);
}

void fill_models(const RunResult& run, bench::BenchReport& report) {
  for (const ModelUnderLoad& model : run.models) {
    bench::Model& out = *report.add_models();
    out.set_name(model.signature.name);
    out.set_version(model.signature.version);
    out.set_weight(model.weight);
    out.set_batch_size(model.batch_size);
    out.set_payloads(model.payloads);
    out.set_distinct_payloads(model.distinct);
    out.set_payload_bytes(model.payload_bytes);
    out.set_data(model.description);
    out.set_decoupled(model.signature.decoupled);
  }
}

void fill_answers(const RunResult& run, bench::BenchReport& report) {
  if (run.find_max) {
    bench::FindMax& out = *report.mutable_find_max();
    out.set_found(run.find_max->found);
    out.set_rate(run.find_max->rate);
    out.set_lowest_broken(run.find_max->lowest_broken);
    out.set_bound_us(us(run.find_max->bound));
    out.set_percentile(run.find_max->percentile);
    out.set_confidence(run.find_max->confidence);
    out.set_text(run.find_max->text);
    out.set_rate_low(run.find_max->rate_low);
    out.set_rate_high(run.find_max->rate_high);
  }
  if (run.knee) {
    report.mutable_knee()->set_level(static_cast<std::uint32_t>(run.knee->pass));
    report.mutable_knee()->set_share_of_best(run.knee->share);
  }
  for (const Goodput& goodput : run.goodput) {
    bench::Goodput& out = *report.add_goodput();
    out.set_level(static_cast<std::uint32_t>(goodput.pass));
    out.set_good_per_second(goodput.good_per_second);
  }
  if (run.binary_search) {
    report.set_binary_search_level(static_cast<std::uint32_t>(*run.binary_search));
  }
}

}  // namespace

bench::BenchReport make_report(const RunResult& run) {
  bench::BenchReport report;
  report.set_schema_version(kReportSchemaVersion);
  report.set_version(run.version);
  report.set_command_line(run.command_line);
  report.set_machine(run.machine);
  report.set_started(utc(run.started_unix_ms));
  report.set_duration_s(seconds(run.duration));
  report.set_interrupted(run.interrupted);
  report.mutable_target()->set_protocol(run.settings.protocol);
  report.mutable_target()->set_url(run.settings.url);
  report.mutable_target()->set_server_name(run.server_name);
  report.mutable_target()->set_server_version(run.server_version);
  fill_settings(run.settings, *report.mutable_settings());
  fill_models(run, report);
  for (const Pass& pass : run.passes) *report.add_levels() = make_level(pass, run);
  fill_answers(run, report);
  add_notes(run.warnings, report);
  return report;
}

}  // namespace proa::loadgen
