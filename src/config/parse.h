#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/given_fields.h"
#include "config/model_config.h"

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

// Reads a config.pbtxt: protobuf text, or JSON when it begins with '{', so that what GET .../config
// shows can be put in its place. Errors: kInvalidArgument with everything that is wrong with it,
// one line per problem: "FILE:LINE:COLUMN: FIELD: what is wrong, and what to write instead".
Result<ParsedConfig> parse_config(std::string_view text, std::string_view file);

// Reads JSON as GET .../config shows it and a load request brings it. A field counts as stated
// unless it is null, a 0 too. Errors: as parse_config().
Result<ParsedConfig> parse_config_json(std::string_view json, std::string_view file);

// More than any real one has.
inline constexpr std::size_t kMaxConfigBytes = 1 << 20;

}  // namespace proa::config
