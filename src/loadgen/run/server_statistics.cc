#include "loadgen/run/server_statistics.h"

#include <algorithm>
#include <array>

namespace proa::loadgen {
namespace {

using Stage = StageTime ServerModelStatistics::*;

constexpr std::array<Stage, 8> kStages = {
    &ServerModelStatistics::success,       &ServerModelStatistics::fail,
    &ServerModelStatistics::queue,         &ServerModelStatistics::compute_input,
    &ServerModelStatistics::compute_infer, &ServerModelStatistics::compute_output,
    &ServerModelStatistics::cache_hit,     &ServerModelStatistics::cache_miss};

bool fell(const ServerModelStatistics& before, const ServerModelStatistics& after) {
  return after.inference_count < before.inference_count ||
         after.execution_count < before.execution_count ||
         std::ranges::any_of(
             kStages,
             [&](Stage stage) {
               return (after.*stage).count < (before.*stage).count ||
                      (after.*stage).total_ns < (before.*stage).total_ns;
             });
}

ServerModelStatistics subtract(ServerModelStatistics after, const ServerModelStatistics& before) {
  after.inference_count -= before.inference_count;
  after.execution_count -= before.execution_count;
  for (const Stage stage : kStages) {
    (after.*stage).count -= (before.*stage).count;
    (after.*stage).total_ns -= (before.*stage).total_ns;
  }
  for (auto& batch : after.batch_sizes) {
    const auto was =
        std::ranges::find(before.batch_sizes, batch.size, &ServerModelStatistics::BatchSize::size);
    if (was != before.batch_sizes.end()) {
      batch.executions -= std::min(was->executions, batch.executions);
    }
  }
  std::erase_if(after.batch_sizes, [](const auto& batch) { return batch.executions == 0; });
  return after;
}

}  // namespace

std::vector<ServerModelStatistics> difference(const ServerSnapshot& before,
                                              const ServerSnapshot& after) {
  std::vector<ServerModelStatistics> models;
  for (const ServerModelStatistics& now : after.models) {
    const auto was = std::ranges::find_if(before.models, [&](const ServerModelStatistics& each) {
      return each.model == now.model && each.version == now.version;
    });
    if (was == before.models.end() || fell(*was, now)) continue;
    models.push_back(subtract(now, *was));
  }
  return models;
}

std::vector<ServerMetric> side_by_side(const ServerSnapshot& before, const ServerSnapshot& after) {
  std::vector<ServerMetric> metrics;
  for (const ServerMetric& now : after.metrics) {
    const auto was = std::ranges::find(before.metrics, now.name, &ServerMetric::name);
    if (was != before.metrics.end()) metrics.push_back({now.name, was->after, now.after});
  }
  return metrics;
}

}  // namespace proa::loadgen
