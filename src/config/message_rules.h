#pragma once

#include "config/problems.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// Rules about fields that have no struct in model_config.h, because they have no effect here or are
// refused as a whole: what breaks them is wrong in Triton too, and its author learns of it together
// with the rest. Source: Triton's model configuration documents and its checks at load.
void check_message(const inference::ModelConfig& message, Problems& problems);

// Parts of check_message().

// ensemble_scheduling: steps, maps, and the graph of tensors between them.
void check_ensemble(const inference::ModelConfig& message, Problems& problems);

// sequence_batching: control inputs, states, strategy.
void check_sequences(const inference::ModelConfig& message, Problems& problems);

}  // namespace proa::config
