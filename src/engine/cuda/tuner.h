#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/cuda/step_kernel.h"
#include "engine/tuning/cache.h"

namespace proa::engine::cuda {

// A kernel for each step of a plan; steps of the same signature share one.
struct ChosenKernels {
  // By step; null where the kernel of a step before does it too.
  std::vector<std::shared_ptr<StepKernel>> by_step;
  std::vector<Choice> choices;  // by step
  // By step: which of the plan's fusions its kernel computes, if one.
  std::vector<std::optional<std::size_t>> fusions;
  std::size_t workspace_bytes = 0;
  std::size_t built = 0;  // kernels that were built, tried ones included
  std::size_t timed = 0;
};

struct TunerOptions {
  // Steps that the cache does not know: true times every candidate, false takes the first that
  // builds and runs, no fusion, and keeps no result.
  bool time_candidates = true;
  int threads = 4;  // that build candidates; each has its own libraries
  // Not tried where another implementation accepts the step: for tests and comparisons.
  std::set<Implementation> avoid;
  // Told, on the calling thread, of the candidates of each step that the cache does not know: the
  // fastest first, by a quick round of times, infinite where one failed. May be empty.
  std::function<void(const Step& step, const std::vector<Choice>& candidates)> timed;
};

// Chooses and builds the kernels of a plan. Candidates are timed inside captured graphs over
// rotating buffers of random numbers; the fastest whose answer agrees with the plain kernel wins
// and is put into `cache`. Fusions are taken as choose_fusions() says. Uses the calling thread's
// device. Errors: kInternal naming a step for which nothing could be built;
// kUnavailable when the device broke.
Result<ChosenKernels> choose_kernels(const Plan& plan, const DeviceInfo& device,
                                     Libraries& libraries, TuningCache& cache,
                                     const TunerOptions& options);

// Those of the plan's fusions that the kernels compute.
std::vector<std::size_t> taken_fusions(const Plan& plan, const ChosenKernels& kernels);

// What the kernel of step `i` computes: the step or a fusion that begins with it.
const Step& work_of(const Plan& plan, const ChosenKernels& kernels, std::size_t i);

}  // namespace proa::engine::cuda
