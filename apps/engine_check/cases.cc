#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "checks.h"
#include "engine/cuda/model.h"
#include "engine/graph/text.h"
#include "engine/testing/cases.h"
#include "engine/testing/compare.h"
#include "fmt/core.h"

namespace proa::engine_check {
namespace {

using engine::Graph;
using engine::HostTensor;
using engine::Implementation;

// Whether numbers are rounded to FP16 or TF32 on the way.
bool rounds(const Graph& graph) {
  for (const engine::Value& value : graph.values) {
    if (value.type == DataType::kFp16) return true;
  }
  return engine::print_graph(graph, engine::ConstantText::kBrief).find("tf32=true") !=
         std::string::npos;
}

// Runs a loaded model on `inputs`, in the graph's types.
Result<std::vector<HostTensor>> run(const engine::cuda::CudaModel& model, const Graph& graph,
                                    const std::vector<HostTensor>& inputs) {
  PROA_ASSIGN(auto stream, model.create_stream(1));
  std::vector<Buffer> packed;
  std::vector<std::span<const std::byte>> in;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    packed.push_back(engine::pack_floats(graph.value(graph.inputs[i]).type, inputs[i].data));
    in.push_back(packed.back().bytes());
  }
  std::vector<std::vector<std::byte>> bytes;
  for (engine::ValueId id : graph.outputs) bytes.emplace_back(graph.value(id).bytes());
  const std::vector<std::span<std::byte>> out(bytes.begin(), bytes.end());
  PROA_TRY(stream->start(0, model.buckets().front().batch, in, out));
  PROA_TRY(stream->wait(0));
  std::vector<HostTensor> outputs;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const engine::Value& value = graph.value(graph.outputs[i]);
    outputs.push_back(
        {value.shape,
         engine::unpack_floats(value.type, bytes[i], static_cast<std::size_t>(value.elements()))});
  }
  return outputs;
}

// All implementations but `wanted` and the plain kernels, which compute the other steps.
std::set<Implementation> others(Implementation wanted) {
  std::set<Implementation> set;
  for (int i = 0; i < static_cast<int>(Implementation::kReference); ++i) {
    if (static_cast<Implementation>(i) != wanted) set.insert(static_cast<Implementation>(i));
  }
  return set;
}

// Whether the model runs what is to be checked: the tuner replaces what does not build or is wrong.
using Ran = std::function<bool(const engine::cuda::CudaModel::Bucket&)>;

// A kernel is among those that run.
Ran kernel_ran(const std::string& signature, const engine::Choice& choice) {
  return [=](const engine::cuda::CudaModel::Bucket& bucket) {
    for (std::size_t i = 0; i < bucket.plan.steps.size(); ++i) {
      const engine::Choice& each = bucket.kernels.choices[i];
      if (bucket.kernels.by_step[i] != nullptr && each.implementation == choice.implementation &&
          each.variant == choice.variant &&
          engine::cuda::work_of(bucket.plan, bucket.kernels, i).signature == signature) {
        return true;
      }
    }
    return false;
  };
}

bool takes(const engine::Step& step, Implementation implementation) {
  return std::ranges::find(step.candidates, implementation) != step.candidates.end();
}

// Each step that `wanted` takes, and no fusion has, is computed by it.
Ran all_ran(Implementation wanted) {
  return [=](const engine::cuda::CudaModel::Bucket& bucket) {
    for (std::size_t i = 0; i < bucket.plan.steps.size(); ++i) {
      if (takes(bucket.plan.steps[i], wanted) && !bucket.kernels.fusions[i] &&
          bucket.kernels.choices[i].implementation != wanted) {
        return false;
      }
    }
    return true;
  };
}

Status check_loaded(const engine::OperatorCase& each, const std::string& name,
                    const engine::cuda::ModelOptions& options, const Ran& ran, Report& report) {
  const Graph& graph = each.graph;
  auto model = engine::cuda::CudaModel::load(graph, options);
  if (!model) {
    report.check(false, name + ": " + model.error().message);
    return {};
  }
  report.check(ran((*model)->buckets().front()), name + ": another kernel ran");
  const std::vector<HostTensor> inputs = engine::random_inputs(graph);
  PROA_ASSIGN(const std::vector<HostTensor> expected, engine::run_graph(graph, inputs));
  PROA_ASSIGN(const std::vector<HostTensor> got, run(**model, graph, inputs));
  const double limit = rounds(graph) ? 2e-3 : 2e-6;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double distance = engine::relative_l2(got[i].data, expected[i].data);
    report.check(distance < limit, fmt::format("{}, output {}: distance {:.3g}, limit {:.3g}", name,
                                               i, distance, limit));
  }
  return {};
}

engine::cuda::ModelOptions options_for(const Graph& graph, Implementation wanted, bool tune) {
  engine::cuda::ModelOptions options;
  options.buckets = {graph.value(graph.inputs.front()).shape[0]};
  options.tuner.time_candidates = tune;
  options.tuner.avoid = others(wanted);
  return options;
}

// What one kernel may compute: the steps of a plan and its fusions.
std::vector<const engine::Step*> all_work(const engine::Plan& plan) {
  std::vector<const engine::Step*> work;
  for (const engine::Step& step : plan.steps) work.push_back(&step);
  for (const engine::Fusion& fusion : plan.fusions) work.push_back(&fusion.step);
  return work;
}

// Kernels whose variants are all checked: our own, and fusions.
constexpr Implementation kWithVariants[] = {
    Implementation::kDepthwise,        Implementation::kStem,
    Implementation::kExpand,           Implementation::kFewRows,
    Implementation::kPictureDepthwise, Implementation::kCublasLtToFloat,
    Implementation::kBlockEnd,         Implementation::kFewPixels};

bool is_library(Implementation implementation) {
  return implementation == Implementation::kCudnnPrecompiled ||
         implementation == Implementation::kCudnnRuntime ||
         implementation == Implementation::kCublasLt ||
         implementation == Implementation::kCublasLtToFloat;
}

// Each variant is forced by a tuning cache that names it.
Status check_variants(const engine::OperatorCase& each, const engine::Plan& plan,
                      const engine::cuda::DeviceInfo& device, engine::cuda::Libraries& libraries,
                      bool own_only, Report& report) {
  // Of this process alone: several may check at once.
  const std::filesystem::path file = fmt::format("variant-{}.txt", ::getpid());
  std::error_code ignored;
  for (const engine::Step* step : all_work(plan)) {
    for (const Implementation own : kWithVariants) {
      if (!takes(*step, own)) continue;
      if (own_only && is_library(own)) continue;
      PROA_ASSIGN(const std::vector<std::string> variants,
                  engine::cuda::maker_of(own).variants(plan.graph, step->node, libraries));
      for (const std::string& variant : variants) {
        engine::TuningCache cache;
        std::filesystem::remove(file, ignored);  // the one before
        const engine::Choice choice{own, variant, 0};
        cache.put(device.environment, step->signature, choice);
        PROA_TRY(cache.save_file(file));
        auto options = options_for(each.graph, own, false);
        options.tuning_cache = file;
        PROA_TRY(check_loaded(each, fmt::format("{} by {} {}", each.name, name_of(own), variant),
                              options, kernel_ran(step->signature, choice), report));
      }
    }
  }
  std::filesystem::remove(file, ignored);
  return {};
}

}  // namespace

Status check_cases(const CaseOptions& options, Report& report) {
  PROA_ASSIGN(const std::vector<engine::OperatorCase> cases,
              engine::read_operator_cases(options.folder));
  PROA_ASSIGN(const engine::cuda::DeviceInfo device, engine::cuda::open_device(0));
  PROA_ASSIGN(const auto libraries, engine::cuda::Libraries::create());
  for (const engine::OperatorCase& each : cases) {
    auto plan = engine::lower(each.graph, {device.compute_capability});
    if (!plan) {
      fmt::print("declined {}: {}\n", each.name, plan.error().message);
      continue;
    }
    std::set<Implementation> wanted;
    for (const engine::Step& step : plan->steps) {
      wanted.insert(step.candidates.begin(), step.candidates.end());
    }
    // A fusion that was not timed is not taken; its variants are forced below.
    for (const engine::Fusion& fusion : plan->fusions) {
      const std::vector<Implementation>& candidates = fusion.step.candidates;
      if (options.tune) wanted.insert(candidates.begin(), candidates.end());
    }
    for (Implementation implementation : wanted) {
      if (options.own_only && is_library(implementation)) continue;
      PROA_TRY(check_loaded(each, fmt::format("{} by {}", each.name, name_of(implementation)),
                            options_for(each.graph, implementation, options.tune),
                            all_ran(implementation), report));
    }
    PROA_TRY(check_variants(each, *plan, device, *libraries, options.own_only, report));
  }
  return {};
}

}  // namespace proa::engine_check
