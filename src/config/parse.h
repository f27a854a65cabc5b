#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/given_fields.h"
#include "config/model_config.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// What one configuration states, before completion (config/complete.h).
// Threading: a plain value.
struct ParsedConfig {
  ModelConfig config;
  GivenFields given;
  std::vector<std::string> warnings;  // one sentence each: fields that have no effect
  std::string stated_backend;         // as the author calls it: "onnxruntime_onnx"; "" = left open
  std::string file;                   // what error messages call it
};

// Reads a config.pbtxt. Errors: kInvalidArgument with everything that is wrong with it, one line
// per problem: "FILE:LINE:COLUMN: FIELD: what is wrong, and what to write instead".
Result<ParsedConfig> parse_config(std::string_view text, std::string_view file);

// The same for a message that came by another way (JSON), with what it states.
Result<ParsedConfig> check_config(const inference::ModelConfig& message, GivenFields given,
                                  std::string_view file);

// More than any real one has.
inline constexpr std::size_t kMaxConfigBytes = 4 << 20;

}  // namespace proa::config
