#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/cuda/step_kernel.h"
#include "engine/tuning/cache.h"

namespace proa::engine::cuda {

// A kernel for each step of a plan; steps of the same signature share one.
struct ChosenKernels {
  std::vector<std::shared_ptr<StepKernel>> by_step;
  std::vector<Choice> choices;  // by step
  std::size_t workspace_bytes = 0;
  std::size_t built = 0;  // kernels that were built, tried ones included
  std::size_t timed = 0;
};

struct TunerOptions {
  // Steps that the cache does not know: true times every candidate, false takes the first that
  // builds.
  bool time_candidates = true;
  int threads = 4;  // that build candidates; each has its own libraries
  // Not tried where another implementation accepts the step: for tests and comparisons.
  std::set<Implementation> avoid;
};

// Chooses and builds the kernels of a plan. Candidates are timed inside captured graphs over
// rotating buffers of random numbers; the fastest whose answer agrees with the plain kernel wins
// and is put into `cache`. Uses the calling thread's device.
// Errors: kInternal naming a step for which nothing could be built; kUnavailable when the device
// broke.
Result<ChosenKernels> choose_kernels(const Plan& plan, const DeviceInfo& device,
                                     Libraries& libraries, TuningCache& cache,
                                     const TunerOptions& options);

}  // namespace proa::engine::cuda
