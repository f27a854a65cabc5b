// What the core costs per request, without protocol and sockets:
//   cmake --build --preset release --target core_bench && build/release/bin/core_bench
// Instructions per inline request: `core_bench --instructions N` under
// `valgrind --tool=callgrind`, for two N; the difference of the totals over the difference of the
// N.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core/model.h"
#include "core/request_builder.h"
#include "core/statistics.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/requests.h"

namespace proa::core {
namespace {

// Counts answers and lets a thread wait for them.
class Counter {
 public:
  void add() {
    count_.fetch_add(1, std::memory_order_release);
    if (waiting_.load(std::memory_order_acquire)) count_.notify_one();
  }
  void wait_for(std::int64_t count) {
    waiting_ = true;
    for (auto now = count_.load(); now < count; now = count_.load()) count_.wait(now);
    waiting_ = false;
  }

 private:
  std::atomic<std::int64_t> count_ = 0;
  std::atomic<bool> waiting_ = false;
};

class CountingSink final : public ResponseSink {
 public:
  explicit CountingSink(Counter& counter) : counter_(counter) {}
  void send(Response response, bool) override {
    benchmark::DoNotOptimize(response.outputs.data());
    counter_.add();
  }

 private:
  Counter& counter_;
};

config::ModelConfig bench_config(bool batching) {
  auto config = float_config(8, {16});
  if (batching) config.dynamic_batching.emplace();
  return config;
}

// What a front end does for a request, after parsing.
void ask(const std::shared_ptr<Model>& model, const BufferView& body, Counter& counter) {
  const NamedInput input{"INPUT0", DataType::kFp32, {1, 16}, body};
  auto request = build_request(model, {&input, 1}, {}, "");
  (*request)->cancellation = std::make_shared<CancellationToken>();
  (*request)->deadline = steady_clock().now() + std::chrono::seconds(10);
  (*request)->sink = std::make_unique<CountingSink>(counter);
  model->infer(std::move(*request));
}

struct Bench {
  Counter counter;
  ModelRuntime runtime;
  BufferView body{Buffer::allocate(64)};
  std::shared_ptr<Model> model;

  Bench(Execution execution, bool batching)
      : model(Model::create(bench_config(batching), 1, std::make_unique<EchoModel>(execution),
                            runtime.options())
                  .value()) {}
};

void BM_BuildRequest(benchmark::State& state) {
  Bench bench(Execution::kInline, false);
  const NamedInput input{"INPUT0", DataType::kFp32, {1, 16}, bench.body};
  for (auto _ : state) {
    benchmark::DoNotOptimize(build_request(bench.model, {&input, 1}, {}, ""));
  }
}
BENCHMARK(BM_BuildRequest);

void BM_Inline(benchmark::State& state) {
  Bench bench(Execution::kInline, state.range(0) != 0);
  for (auto _ : state) ask(bench.model, bench.body, bench.counter);
}
BENCHMARK(BM_Inline)->ArgName("batching")->Arg(0)->Arg(1);

// `depth` requests, then wait for their answers.
void BM_Blocking(benchmark::State& state) {
  Bench bench(Execution::kBlocking, state.range(0) != 0);
  const std::int64_t depth = state.range(1);
  std::int64_t asked = 0;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < depth; ++i) ask(bench.model, bench.body, bench.counter);
    asked += depth;
    bench.counter.wait_for(asked);
  }
  state.SetItemsProcessed(asked);
}
BENCHMARK(BM_Blocking)
    ->ArgNames({"batching", "depth"})
    ->Args({0, 1})
    ->Args({0, 16})
    ->Args({1, 1})
    ->Args({1, 16})
    ->UseRealTime()
    ->MeasureProcessCPUTime();

void BM_RecordStatistics(benchmark::State& state) {
  ModelStatistics statistics(1, steady_clock());
  std::vector<std::unique_ptr<Request>> requests;
  requests.push_back(float_request("a"));
  const TimePoint now = steady_clock().now();
  requests[0]->times.enqueued = now;
  Batch batch(std::move(requests));
  batch.started = batch.inputs_ready = batch.computed = batch.finished = now;
  const std::vector<Response> responses(1);
  for (auto _ : state) statistics.record_batch(batch, 0, responses);
}
BENCHMARK(BM_RecordStatistics);

}  // namespace

void run_inline_requests(int count) {
  Bench bench(Execution::kInline, false);
  for (int i = 0; i < count; ++i) ask(bench.model, bench.body, bench.counter);
}

}  // namespace proa::core

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--instructions") == 0) {
    proa::core::run_inline_requests(std::atoi(argv[2]));
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
