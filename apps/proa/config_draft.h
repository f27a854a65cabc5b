#pragma once

#include <string>

#include "config/model_config.h"

namespace proa {

// A config.pbtxt with what a person would write: no field that only repeats its default, and no
// name when it is empty: the folder gives it. Reading it
// back gives the same inputs, outputs and batching.
std::string config_draft(const config::ModelConfig& config);

}  // namespace proa
