#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa {

// What --backend-config says. Of Triton's settings one means something here:
// default-max-batch-size, for all backends or one whose models run on this CPU engine.
struct BackendConfig {
  std::int32_t default_max_batch_size = 4;
  std::vector<std::string> warnings;  // a line for each setting that has no effect
};

// Reads one "[BACKEND,]KEY=VALUE" into `config`.
// Errors: kInvalidArgument when the form or the number is wrong.
Status read_backend_config(std::string_view text, BackendConfig& config);

// Takes "0:0.9", a GPU and the share of its memory, in. Errors: kInvalidArgument quoting it.
Status read_gpu_limit(std::string_view text, std::map<int, double>& limits);

}  // namespace proa
