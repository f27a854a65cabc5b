// How long cuDNN takes to make execution plans that compile their kernels, and to read the same
// ones back from their JSON: what keeping them would save of a start.
#include <algorithm>
#include <set>

#include "backends/cuda/import.h"
#include "checks.h"
#include "engine/cuda/cudnn_conv_graph.h"
#include "engine/cuda/cudnn_engine.h"
#include "engine/cuda/device.h"
#include "engine/cuda/status.h"
#include "engine/graph/batch.h"
#include "engine/passes/pass.h"
#include "engine/plan/plan.h"
#include "fmt/core.h"
#include "openvino/core/model.hpp"

namespace proa::engine_check {
namespace {

using engine::cuda::ConvForm;
using engine::cuda::ConvGraph;
using engine::cuda::CudnnDescriptor;
using engine::cuda::EngineChoice;

constexpr auto kJson = CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;

Result<std::string> json_of(const CudnnDescriptor& plan) {
  constexpr std::int64_t kMostBytes = 4 << 20;
  std::int64_t size = 0;
  std::string text(static_cast<std::size_t>(kMostBytes), '\0');
  PROA_CUDNN(
      cudnnBackendGetAttribute(plan.get(), kJson, CUDNN_TYPE_CHAR, kMostBytes, &size, text.data()));
  text.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, kMostBytes)));
  return text;
}

// Setting the JSON makes the plan; there is nothing to finalize.
Result<CudnnDescriptor> plan_from(const std::string& json, cudnnHandle_t handle) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  PROA_CUDNN(cudnnBackendSetAttribute(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                                      CUDNN_TYPE_HANDLE, 1, &handle));
  PROA_CUDNN(cudnnBackendSetAttribute(plan.get(), kJson, CUDNN_TYPE_CHAR,
                                      static_cast<std::int64_t>(json.size()), json.data()));
  return plan;
}

struct Sums {
  int plans = 0;
  double built = 0, read = 0;
  std::size_t bytes = 0;
};

// The best guess among the engines that compile their kernels.
Status time_plan(const engine::Plan& plan, const engine::Node& node, cudnnHandle_t handle,
                 Sums& sums) {
  PROA_ASSIGN(const ConvGraph conv, ConvGraph::make(plan.graph, node, ConvForm::kRuntime, handle));
  PROA_ASSIGN(const std::vector<EngineChoice> engines,
              engine::cuda::list_engines(conv.operations(), false));
  double begin = now();
  PROA_ASSIGN(const engine::cuda::BuiltPlan built,
              engine::cuda::build_plan(conv.operations(), engines.front(), handle));
  sums.built += now() - begin;
  PROA_ASSIGN(const std::string json, json_of(built.plan));
  begin = now();
  PROA_ASSIGN(const CudnnDescriptor read, plan_from(json, handle));
  PROA_ASSIGN(const std::int64_t workspace,
              read.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64));
  sums.read += now() - begin;
  sums.bytes += json.size();
  ++sums.plans;
  if (workspace < 0) return error::internal("a plan that was read back has no workspace size");
  return {};
}

}  // namespace

Status check_plans(const NetworkOptions& options, Report& report) {
  PROA_ASSIGN(const std::shared_ptr<ov::Model> model, backends::cuda::read_model(options.model));
  PROA_ASSIGN(engine::Graph graph, backends::cuda::import_model(model, 1));
  auto passed = engine::run_passes(graph, {});
  if (!passed) return std::move(passed).error();
  PROA_ASSIGN(const engine::cuda::DeviceInfo device, engine::cuda::open_device(0));
  for (const std::int64_t batch : options.buckets) {
    PROA_ASSIGN(engine::Graph resized, engine::with_batch(graph, batch));
    PROA_ASSIGN(const engine::Plan plan,
                engine::lower(std::move(resized), {device.compute_capability}));
    PROA_ASSIGN(const auto libraries, engine::cuda::Libraries::create());
    Sums sums;
    std::set<std::string> seen;
    for (const engine::Step& step : plan.steps) {
      const bool compiles =
          std::ranges::find(step.candidates, engine::Implementation::kCudnnRuntime) !=
          step.candidates.end();
      if (!compiles || !seen.insert(step.signature).second) continue;
      const Status status = time_plan(plan, step.node, libraries->cudnn(), sums);
      report.check(status.has_value(), status ? step.signature : status.error().message);
    }
    fmt::print("PLANS batch {}: {} built in {:.2f} s, read back in {:.2f} s from {:.1f} MiB\n",
               batch, sums.plans, sums.built, sums.read,
               static_cast<double>(sums.bytes) / (1 << 20));
  }
  return {};
}

}  // namespace proa::engine_check
