#pragma once

#include <string_view>

#include "base/log.h"
#include "base/result.h"

namespace proa::backends {

// kInvalidArgument: a value in the `parameters` of a model's configuration is not what it may be.
// `wanted` follows "it must be".
inline Error bad_parameter(std::string_view name, std::string_view value, std::string_view wanted) {
  return error::invalid_argument("parameter '{}' is \"{}\"; it must be {}", name,
                                 log::printable(value), wanted);
}

}  // namespace proa::backends
