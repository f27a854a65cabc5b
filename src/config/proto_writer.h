#pragma once

#include <string>

#include "config/model_config.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// The message for `config`, as GET .../config shows it: every field in force, completed ones
// included, and what the author stated for the others. Reading it back, as text or as JSON, and
// completing it again gives the same message.
inference::ModelConfig to_proto(const ModelConfig& config);

// The same as config.pbtxt.
std::string to_text(const ModelConfig& config);

}  // namespace proa::config
