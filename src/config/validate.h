#pragma once

#include "config/model_config.h"
#include "config/problems.h"

namespace proa::config {

// The most instances a group may ask for; far beyond what a machine runs, far below what a typing
// error can ask for.
inline constexpr std::int32_t kMaxInstances = 1024;
inline constexpr std::uint64_t kMaxPriorityLevels = 1024;

// Adds a problem for each rule that what `config` states breaks. Rules that compare with
// max_batch_size are left out unless `max_batch_size_known`. Source: Triton's model configuration
// documents and its checks at load.
void check_values(const ModelConfig& config, bool max_batch_size_known, Problems& problems);

// Adds a problem for each thing that a model cannot be loaded without, after completion.
void check_complete(const ModelConfig& config, Problems& problems);

}  // namespace proa::config
