#pragma once

#include "config/model_config.h"
#include "config/problems.h"

namespace proa::config {

// Adds a problem for each rule that what model_warmup itself states breaks.
void check_warm_ups(const ModelConfig& config, Problems& problems);

// Adds a problem for each warm-up request that the complete model would not take: unknown or
// missing inputs, other types, dims that do not fit.
void check_warm_ups_fit(const ModelConfig& config, Problems& problems);

}  // namespace proa::config
