#pragma once

#include <string_view>

#include "base/result.h"

namespace proa::storage {

// Can a model have that name? It must be one that a folder can have (not empty, "." or "..", no
// '/', at most 255 bytes) and that goes unharmed through logs, metrics and protobuf (UTF-8, no
// control characters). Errors: kInvalidArgument.
Status check_model_name(std::string_view name);

// Folders that tools leave in a repository and that are no models: "lost+found", "__pycache__".
bool is_known_clutter(std::string_view name);

}  // namespace proa::storage
