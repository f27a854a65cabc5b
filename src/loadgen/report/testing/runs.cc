#include "loadgen/report/testing/runs.h"

#include <chrono>

namespace proa::loadgen {
namespace {

using std::chrono::milliseconds;

Duration from_us(double us) { return Duration(static_cast<std::int64_t>(us * 1e3)); }

// `count` values spread evenly over 0.9..1.1 of `mean_us`.
LatencyHistogram spread(double mean_us, int count) {
  LatencyHistogram histogram;
  for (int i = 0; i < count; ++i) {
    histogram.record(from_us(mean_us * (0.9 + 0.2 * (i + 0.5) / count)));
  }
  return histogram;
}

Window make_window(int index, double rate, double mean_us) {
  Window window;
  window.start = milliseconds(1000 * index);
  window.duration = milliseconds(1000);
  // Windows differ by a percent, as they do.
  const double wobble = 1 + 0.01 * (index % 3 - 1);
  window.counts.completed = static_cast<std::uint64_t>(rate * wobble);
  window.counts.sent = window.counts.completed;
  window.counts.inferences = window.counts.completed;
  window.latency = spread(mean_us / wobble, static_cast<int>(rate * wobble));
  window.used = index >= 1;
  return window;
}

ServerModelStatistics server_of(std::uint64_t requests, double mean_us) {
  const auto stage = [&](double us) {
    return StageTime{requests,
                     static_cast<std::uint64_t>(us * 1e3 * static_cast<double>(requests))};
  };
  ServerModelStatistics server;
  server.model = "lite0";
  server.version = "1";
  server.inference_count = requests;
  server.execution_count = requests / 2;
  server.success = stage(mean_us * 0.95);
  server.queue = stage(mean_us * 0.6);
  server.compute_input = stage(mean_us * 0.01);
  server.compute_infer = stage(mean_us * 0.3);
  server.compute_output = stage(mean_us * 0.01);
  server.batch_sizes = {{1, requests / 4}, {3, requests / 4}};
  return server;
}

Pass make_pass(double in_flight, double rate, double mean_us) {
  Pass pass;
  pass.load = in_flight;
  pass.load_text = fmt::format("{:g} in flight", in_flight);
  pass.duration = milliseconds(4000);
  pass.measured = milliseconds(3000);
  pass.stability.stable = true;
  for (int i = 0; i < 4; ++i) {
    pass.windows.push_back(make_window(i, rate, mean_us));
    const Window& window = pass.windows.back();
    pass.series.push_back({.start = window.start,
                           .duration = window.duration,
                           .counts = window.counts,
                           .in_flight = static_cast<std::uint64_t>(in_flight),
                           .p50 = window.latency.quantile(0.5),
                           .p99 = window.latency.quantile(0.99),
                           .max = window.latency.max()});
    if (!window.used) continue;
    pass.counts.add(window.counts);
    pass.latencies.from_due.merge(window.latency);
    pass.latencies.from_send.merge(window.latency);
  }
  pass.latencies.send = spread(mean_us * 0.01, 100);
  pass.latencies.wait = spread(mean_us * 0.98, 100);
  pass.latencies.receive = spread(mean_us * 0.01, 100);
  pass.server = {server_of(pass.counts.completed, mean_us)};
  pass.health.threads = 1;
  pass.health.busy = 0.2;
  pass.health.cpu_us_per_request = 12;
  return pass;
}

RunResult empty_run() {
  RunResult run;
  run.command_line = "proa bench -m lite0";
  run.version = "0.1.0";
  run.server_name = "proa";
  run.server_version = "0.1.0";
  run.machine = "2 processors";
  run.started_unix_ms = 1'796'000'000'000;
  run.duration = milliseconds(13'000);
  run.settings.protocol = "http";
  run.settings.url = "127.0.0.1:8000";
  ModelUnderLoad model;
  model.signature.name = "lite0";
  model.payloads = 16;
  model.distinct = 16;
  model.payload_bytes = 602'112;
  model.description = "16 random requests (seed 1)";
  run.models = {model};
  return run;
}

}  // namespace

RunResult scaled_run(double throughput, double latency) {
  RunResult run = empty_run();
  run.passes = {make_pass(1, 400 * throughput, 2500 * latency),
                make_pass(2, 600 * throughput, 3300 * latency),
                make_pass(4, 500 * throughput, 8100 * latency)};
  run.knee = Knee{1, 1.0};
  return run;
}

RunResult closed_loop_run() { return scaled_run(1, 1); }

RunResult saturated_run() {
  RunResult run = empty_run();
  Pass pass = make_pass(1, 900, 1000);
  pass.shape = LoadShape::kPoissonRate;
  pass.load = 1000;
  pass.load_text = "1000/s Poisson";
  pass.valid = false;
  pass.health.saturated = true;
  pass.health.reason = "1 thread was busy 99 % of the time; try --threads 2.";
  pass.health.asked_rate = 1000;
  pass.health.sent_rate = 900;
  run.passes = {pass};
  return run;
}

}  // namespace proa::loadgen
