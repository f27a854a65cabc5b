// What a scrape costs the loop thread that answers it, by the number of models.
#include "observe/metrics.h"

#include "benchmark/benchmark.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/requests.h"

namespace proa::observe {
namespace {

void BM_Render(benchmark::State& state) {
  core::ModelRuntime runtime;
  std::vector<std::shared_ptr<core::Model>> models;
  for (int i = 0; i < state.range(0); ++i) {
    config::ModelConfig config = core::float_config(8);
    config.name = "model_with_a_longer_name_" + std::to_string(i);
    models.push_back(
        core::Model::create(std::move(config), 1,
                            std::make_unique<core::EchoModel>(core::Execution::kInline),
                            runtime.options())
            .value());
  }
  Metrics metrics(
      {.histogram_latencies = state.range(1) != 0, .summary_latencies = state.range(1) != 0});
  std::size_t bytes = 0;
  for (auto _ : state) bytes = metrics.render(models, {}).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Render)
    ->ArgNames({"models", "summaries"})
    ->ArgsProduct({{1, 20, 200}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace proa::observe
