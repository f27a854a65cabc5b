// What an identity model itself costs: one batch of one request, by bytes, copied or not.
#include "backends/identity/identity_backend.h"
#include "benchmark/benchmark.h"
#include "core/testing/requests.h"

namespace proa::backends {
namespace {

void run(benchmark::State& state, const char* zero_copy) {
  const auto backend = make_identity_backend(&steady_clock(), nullptr);
  config::ModelConfig config = core::float_config(8, {-1});
  config.parameters = {{"zero_copy", zero_copy}};
  const auto model = *backend->load({}, config);
  const auto instance = *model->create_instance({});
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(core::float_request("a", 1, state.range(0)));
  auto batch = std::make_unique<core::Batch>(std::move(requests));
  for (auto _ : state) {
    instance->start(std::move(batch),
                    [&](std::unique_ptr<core::Batch> ended) { batch = std::move(ended); });
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}

void BM_Copy(benchmark::State& state) { run(state, "false"); }
BENCHMARK(BM_Copy)->Arg(16)->Arg(150528);

void BM_ZeroCopy(benchmark::State& state) { run(state, "true"); }
BENCHMARK(BM_ZeroCopy)->Arg(16)->Arg(150528);

}  // namespace
}  // namespace proa::backends
