#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/split.h"
#include "base/result.h"
#include "config/model_config.h"
#include "engine/passes/pass.h"

namespace proa::backends::cuda {

// What a model configuration says to this backend: `parameters`, which docs/backend-cuda.md lists,
// and half_precision.
struct Settings {
  engine::Precision precision = engine::Precision::kFp32;
  std::optional<bool> tune;           // time kernels at load instead of taking the first that fits
  std::vector<std::int64_t> buckets;  // batch sizes with plans of their own; empty: choose_buckets
  PlacementOptions placement;
  bool require_gpu = false;                       // an operator on the CPU is an error
  std::set<std::string, std::less<>> fp32_nodes;  // stay FP32 under f16
  bool check_overflow = true;                     // find out which do not fit FP16
  int most_shapes = 8;  // plans for extents other than the batch that an instance keeps
};

// Keys that mean nothing here are appended to `unknown_keys`.
// Errors: kInvalidArgument naming the parameter, its value and what may stand there.
Result<Settings> parse_settings(const config::ModelConfig& config,
                                std::vector<std::string>& unknown_keys);

// Batch sizes that get plans of their own: powers of two, the preferred sizes and the largest,
// ascending. A batch in between is filled up to the next one. Pure.
std::vector<std::int64_t> choose_buckets(std::int64_t max_batch_size,
                                         std::span<const std::int32_t> preferred);

}  // namespace proa::backends::cuda
