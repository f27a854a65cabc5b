#pragma once

#include <string_view>

#include "config/given_fields.h"
#include "config/problems.h"
#include "proto/model_config.pb.h"

namespace proa::config {

// config.pbtxt: the protobuf text format of inference.ModelConfig.

struct TextConfig {
  inference::ModelConfig message;
  GivenFields given;
};

// Errors go to `problems`, each with its line and column: all unknown fields (with the nearest
// known name) and all unknown enumeration values; anything else that does not parse ends the
// search. Threading: re-entrant.
TextConfig parse_text(std::string_view text, Problems& problems);

}  // namespace proa::config
