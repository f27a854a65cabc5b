#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/backend.h"

namespace proa::backends::openvino {

enum class Precision : std::uint8_t { kF32, kBf16, kF16 };

// What a model configuration says to this backend: `parameters`, which docs/backend-openvino.md
// lists, and half_precision.
struct Settings {
  Precision precision = Precision::kF32;
  int threads = 0;  // of all instances together; 0 = as many as the process may use
  core::Execution execution = core::Execution::kBlocking;
  // How long warm-up may hold a model back from being ready; 0 = only batch size 1 is warmed, ever.
  int warm_up_ms = 150;
};

// Keys that mean nothing here are appended to `unknown_keys`.
// Errors: kInvalidArgument naming the parameter, its value and what may stand there.
Result<Settings> parse_settings(const config::ModelConfig& config,
                                std::vector<std::string>& unknown_keys);

}  // namespace proa::backends::openvino
