// What it costs a request to find its model, by the number of threads that look at once.
#include "benchmark/benchmark.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/requests.h"
#include "lifecycle/catalog.h"

namespace proa::lifecycle {
namespace {

std::shared_ptr<Catalog> catalog_of_twenty(core::ModelRuntime& runtime) {
  auto catalog = std::make_shared<Catalog>();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "model_with_a_longer_name_" + std::to_string(i);
    std::vector<Catalog::LoadedVersion> versions;
    versions.push_back(
        {1, core::Model::create(core::float_config(8), 1,
                                std::make_unique<core::EchoModel>(core::Execution::kInline),
                                runtime.options())});
    catalog->replace(name, std::move(versions));
  }
  return catalog;
}

void find(benchmark::State& state, std::string_view name, std::string_view version) {
  static core::ModelRuntime runtime;
  static const std::shared_ptr<Catalog> catalog = catalog_of_twenty(runtime);
  for (auto _ : state) benchmark::DoNotOptimize(catalog->find(name, version));
}

// All threads want the same model: its reference count is what they share.
void BM_FindLatest(benchmark::State& state) { find(state, "model_with_a_longer_name_7", ""); }
BENCHMARK(BM_FindLatest)->ThreadRange(1, 2);

void BM_FindByNumber(benchmark::State& state) { find(state, "model_with_a_longer_name_7", "1"); }
BENCHMARK(BM_FindByNumber)->ThreadRange(1, 2);

void BM_FindAnotherModelEach(benchmark::State& state) {
  find(state,
       state.thread_index() % 2 == 0 ? "model_with_a_longer_name_3" : "model_with_a_longer_name_11",
       "");
}
BENCHMARK(BM_FindAnotherModelEach)->ThreadRange(1, 2);

}  // namespace
}  // namespace proa::lifecycle
