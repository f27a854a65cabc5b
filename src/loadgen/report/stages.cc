#include "loadgen/report/stages.h"

#include <algorithm>
#include <map>

#include "loadgen/report/units.h"

namespace proa::loadgen {
namespace {

double mean_us(const LatencyHistogram& histogram) { return us(histogram.mean()); }

// The server's times of all addressed requests together, in ns.
struct ServerTotals {
  double requests = 0;
  double success = 0, queue = 0, input = 0, infer = 0, output = 0, hit = 0, miss = 0;

  void add_parts(const ServerModelStatistics& model) {
    queue += static_cast<double>(model.queue.total_ns);
    input += static_cast<double>(model.compute_input.total_ns);
    infer += static_cast<double>(model.compute_infer.total_ns);
    output += static_cast<double>(model.compute_output.total_ns);
    hit += static_cast<double>(model.cache_hit.total_ns);
    miss += static_cast<double>(model.cache_miss.total_ns);
  }
  double parts() const { return queue + input + infer + output + hit + miss; }
};

ServerTotals total_of(const std::vector<ServerModelStatistics>& models) {
  ServerTotals totals;
  for (const ServerModelStatistics& model : models) {
    if (model.composing) continue;
    totals.requests += static_cast<double>(model.success.count);
    totals.success += static_cast<double>(model.success.total_ns);
    totals.add_parts(model);
  }
  if (totals.queue + totals.infer > 0) return totals;
  for (const ServerModelStatistics& model : models) {
    if (model.composing) totals.add_parts(model);
  }
  return totals;
}

}  // namespace

bench::Stages make_stages(const Pass& pass) {
  bench::Stages stages;
  const double from_send = mean_us(pass.latencies.from_send);
  stages.set_total_us(mean_us(pass.latencies.from_due));
  stages.set_due_to_sent_us(std::max(0.0, stages.total_us() - from_send));
  stages.set_client_send_us(mean_us(pass.latencies.send));
  stages.set_client_wait_us(mean_us(pass.latencies.wait));
  stages.set_client_receive_us(mean_us(pass.latencies.receive));
  const ServerTotals totals = total_of(pass.server);
  if (totals.requests == 0) return stages;
  const auto each = [&](double total_ns) { return total_ns / totals.requests / 1e3; };
  stages.set_has_server(true);
  stages.set_queue_us(each(totals.queue));
  stages.set_compute_input_us(each(totals.input));
  stages.set_compute_infer_us(each(totals.infer));
  stages.set_compute_output_us(each(totals.output));
  stages.set_cache_hit_us(each(totals.hit));
  stages.set_cache_miss_us(each(totals.miss));
  // Steps of an ensemble may run side by side and add up to more than its request.
  stages.set_server_overhead_us(std::max(0.0, each(totals.success - totals.parts())));
  const double at_server = std::max(each(totals.success), each(totals.parts()));
  stages.set_network_and_client_us(std::max(0.0, from_send - at_server));
  return stages;
}

std::vector<ServerModelStatistics::BatchSize> batch_sizes(const Pass& pass) {
  std::map<std::uint64_t, std::uint64_t> executions;
  for (const ServerModelStatistics& model : pass.server) {
    for (const auto& batch : model.batch_sizes) executions[batch.size] += batch.executions;
  }
  std::vector<ServerModelStatistics::BatchSize> sizes;
  for (const auto& [size, count] : executions) sizes.push_back({size, count});
  return sizes;
}

}  // namespace proa::loadgen
