#include <algorithm>
#include <cmath>

#include "backends/cuda/import.h"
#include "backends/cuda/testing/export.h"
#include "checks.h"
#include "engine/cuda/model.h"
#include "engine/cuda/status.h"
#include "engine/graph/text.h"
#include "engine/passes/pass.h"
#include "engine/testing/cases.h"
#include "engine/testing/compare.h"
#include "fmt/core.h"
#include "openvino/core/model.hpp"

namespace proa::engine_check {
namespace {

using engine::Graph;
using engine::HostTensor;

constexpr std::int64_t kLargestChecked = 8;

// The graph of a file after all passes.
Result<Graph> prepare(const NetworkOptions& options, const std::shared_ptr<ov::Model>& model) {
  const double begin = now();
  PROA_ASSIGN(Graph graph, backends::cuda::import_model(model, 1));
  const double imported = now();
  engine::PassOptions pass_options;
  pass_options.precision = options.precision == "f32"    ? engine::Precision::kFp32
                           : options.precision == "tf32" ? engine::Precision::kTf32
                                                         : engine::Precision::kFp16;
  PROA_ASSIGN(const std::vector<engine::PassRecord> records,
              engine::run_passes(graph, pass_options));
  fmt::print("import {:.3f} s, passes {:.3f} s:", imported - begin, now() - imported);
  for (const engine::PassRecord& record : records) {
    fmt::print(" {} {}", record.name, record.changes);
  }
  fmt::print(", {} nodes\n", graph.nodes.size());
  return graph;
}

Status check_answers(const engine::cuda::CudaModel& model, const Graph& graph, double limit,
                     const std::shared_ptr<ov::Model>& reference, Report& report) {
  PROA_ASSIGN(auto stream, model.create_stream(2));
  const engine::Value& input = graph.value(graph.inputs.front());
  const engine::Value& output = graph.value(graph.outputs.front());
  for (const engine::cuda::CudaModel::Bucket& bucket : model.buckets()) {
    // The bucket full, and with its last row left to chance.
    for (std::int64_t batch : {bucket.batch, bucket.batch - 1}) {
      if (batch < 1 || bucket.batch > kLargestChecked) continue;
      HostTensor rows{input.shape, {}};
      rows.shape[0] = batch;
      rows.data = engine::random_numbers(static_cast<std::uint64_t>(batch),
                                         static_cast<std::size_t>(input.elements() * batch), -1, 1);
      const std::vector<float> wanted =
          backends::cuda::run_openvino(reference, {rows}).front().data;
      const Buffer packed = engine::pack_floats(input.type, rows.data);
      std::vector<std::byte> bytes(output.bytes() * static_cast<std::size_t>(batch));
      const std::span<const std::byte> in = packed.bytes();
      const std::span<std::byte> out = bytes;
      for (int slot : {0, 1}) {
        std::ranges::fill(bytes, std::byte{0xff});
        PROA_TRY(stream->start(slot, batch, {&in, 1}, {&out, 1}));
        PROA_TRY(stream->wait(slot));
        const std::vector<float> got = engine::unpack_floats(output.type, bytes, wanted.size());
        const double distance = engine::relative_l2(got, wanted);
        report.check(distance < limit,
                     fmt::format("batch {} of bucket {}, slot {}: distance {:.3g}", batch,
                                 bucket.batch, slot, distance));
        if (slot == 0) {
          fmt::print("batch {} in bucket {}: distance from OpenVINO FP32 {:.3g} (limit {:.3g})\n",
                     batch, bucket.batch, distance, limit);
        }
      }
    }
  }
  return {};
}

// Random numbers for the bucket's inputs into slot 0, and one inference over them.
Status fill_slot(engine::cuda::ModelStream& stream, const engine::cuda::CudaModel::Bucket& bucket) {
  const Graph& graph = bucket.plan.graph;
  std::vector<Buffer> inputs;
  std::vector<std::span<const std::byte>> in;
  std::vector<std::vector<std::byte>> outputs;
  for (HostTensor& input : engine::random_inputs(graph)) {
    inputs.push_back(
        engine::pack_floats(graph.value(graph.inputs[inputs.size()]).type, input.data));
    in.push_back(inputs.back().bytes());
  }
  for (const engine::ValueId id : graph.outputs) outputs.emplace_back(graph.value(id).bytes());
  const std::vector<std::span<std::byte>> out(outputs.begin(), outputs.end());
  PROA_TRY(stream.start(0, bucket.batch, in, out));
  return stream.wait(0);
}

// Median, fastest and slowest of the replays of one bucket's graph, in milliseconds.
Status time_bucket(const engine::cuda::CudaModel& model, std::size_t index) {
  PROA_ASSIGN(auto stream, model.create_stream(1));
  PROA_TRY(fill_slot(*stream, model.buckets()[index]));
  PROA_ASSIGN(const engine::cuda::Event begin, engine::cuda::make_event(true));
  PROA_ASSIGN(const engine::cuda::Event end, engine::cuda::make_event(true));
  const std::int64_t batch = model.buckets()[index].batch;
  const int replays = batch >= 64 ? 4 : 16;  // between two events, so that their cost vanishes
  std::vector<float> times;
  std::vector<double> host;
  for (int i = 0; i < 5; ++i) PROA_TRY(stream->launch(index, 0));
  for (int i = 0; i < 31; ++i) {
    PROA_CUDA(cudaEventRecord(begin.get(), stream->compute_stream()));
    for (int j = 0; j < replays; ++j) PROA_TRY(stream->launch(index, 0));
    PROA_CUDA(cudaEventRecord(end.get(), stream->compute_stream()));
    PROA_CUDA(cudaEventSynchronize(end.get()));
    float milliseconds = 0;
    PROA_CUDA(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    times.push_back(milliseconds / static_cast<float>(replays));
    const double from = now();
    PROA_TRY(stream->launch(index, 0));
    PROA_CUDA(cudaStreamSynchronize(stream->compute_stream()));
    host.push_back((now() - from) * 1e3);
  }
  std::ranges::sort(times);
  std::ranges::sort(host);
  fmt::print(
      "TIME batch {:4}: {:.4f} ms a graph (fastest {:.4f}, slowest {:.4f}), host sees "
      "{:.4f} ms, {:.0f} rows/s, stream holds {:.1f} MiB\n",
      batch, times[15], times.front(), times.back(), host[15],
      static_cast<double>(batch) / times[15] * 1e3,
      static_cast<double>(stream->bytes()) / (1 << 20));
  return {};
}

// Several streams that replay one bucket's graph at the same time, each as fast as it can.
Status time_side_by_side(const engine::cuda::CudaModel& model, std::size_t index, int streams) {
  std::vector<std::unique_ptr<engine::cuda::ModelStream>> all;
  for (int i = 0; i < streams; ++i) {
    PROA_ASSIGN(all.emplace_back(), model.create_stream(1));
    PROA_TRY(fill_slot(*all.back(), model.buckets()[index]));
  }
  constexpr int kRounds = 100;
  std::vector<double> rates;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double begin = now();
    for (int i = 0; i < kRounds; ++i) {
      for (const auto& stream : all) PROA_TRY(stream->launch(index, 0));
    }
    for (const auto& stream : all) PROA_CUDA(cudaStreamSynchronize(stream->compute_stream()));
    const auto rows = static_cast<double>(model.buckets()[index].batch * streams * kRounds);
    rates.push_back(rows / (now() - begin));
  }
  std::ranges::sort(rates);
  fmt::print("TIME {} streams of batch {}: {:.0f} rows/s (slowest {:.0f}, fastest {:.0f})\n",
             streams, model.buckets()[index].batch, rates[2], rates.front(), rates.back());
  return {};
}

void print_candidates(const engine::Step& step, const std::vector<engine::Choice>& candidates) {
  fmt::print("CANDIDATES {}\n", step.signature);
  for (const engine::Choice& each : candidates) {
    const std::string time =
        std::isinf(each.microseconds) ? "failed" : fmt::format("{:.2f} us", each.microseconds);
    fmt::print("  {:>11}  {} {}\n", time, engine::name_of(each.implementation), each.variant);
  }
}

}  // namespace

Status check_network(const NetworkOptions& options, Report& report) {
  PROA_ASSIGN(const std::shared_ptr<ov::Model> reference,
              backends::cuda::read_model(options.model));
  PROA_ASSIGN(const Graph graph, prepare(options, reference));
  engine::cuda::ModelOptions model_options;
  model_options.buckets = options.buckets;
  model_options.tuning_cache = options.cache;
  model_options.tuner.threads = options.threads;
  model_options.tuner.time_candidates = options.tune;
  if (options.candidates) model_options.tuner.timed = print_candidates;
  const double begin = now();
  PROA_ASSIGN(const auto model, engine::cuda::CudaModel::load(graph, model_options));
  fmt::print("{}loaded in {:.2f} s\n", model->report(), now() - begin);
  if (options.check) {
    PROA_TRY(
        check_answers(*model, graph, options.precision == "f32" ? 1e-4 : 5e-3, reference, report));
  }
  for (std::size_t i = 0; i < model->buckets().size(); ++i) {
    PROA_TRY(time_bucket(*model, i));
    if (options.streams > 0) PROA_TRY(time_side_by_side(*model, i, options.streams));
  }
  return {};
}

}  // namespace proa::engine_check
