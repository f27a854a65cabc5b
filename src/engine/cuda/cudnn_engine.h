#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cuda/cudnn_descriptor.h"

namespace proa::engine::cuda {

// One of cuDNN's engines with its knobs, as text "engine:knob=value,knob=value": what the tuning
// cache keeps of a cuDNN kernel.
struct EngineChoice {
  std::int64_t engine = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> knobs;

  std::string to_string() const;
  // Errors: kInvalidArgument quoting the text.
  static Result<EngineChoice> parse(std::string_view text);
};

// What cuDNN's heuristics propose for a graph of operations, best guess first, without repeats.
// `strict`: without engines that round FP32 inputs (TF32 on tensor cores).
// Errors: kUnimplemented when there is nothing.
Result<std::vector<EngineChoice>> list_engines(const CudnnDescriptor& operations, bool strict);

// The execution plan of an engine; compiles its kernel if it is not a shipped one. `operations`
// must outlive it.
Result<CudnnDescriptor> build_plan(const CudnnDescriptor& operations, const EngineChoice& choice,
                                   cudnnHandle_t handle);

}  // namespace proa::engine::cuda
