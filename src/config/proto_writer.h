#pragma once

#include <string>

#include "config/model_config.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// The message for `config`, as GET .../config shows it: every field in force, completed ones
// included. Reading it back gives the same configuration.
inference::ModelConfig to_proto(const ModelConfig& config);

// The same as config.pbtxt.
std::string to_text(const ModelConfig& config);

}  // namespace proa::config
