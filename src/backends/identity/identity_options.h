#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "config/model_config.h"

namespace proa::backends {

// The `parameters` that an identity model's configuration may set; docs/backends.md explains them.
// Threading: a plain value.
struct IdentityOptions {
  std::chrono::milliseconds execute_delay{0};
  bool blocking = false;
  bool zero_copy = false;
  bool echo_parameters = false;
  std::string fail_message;       // of the batches that fail
  std::uint64_t fail_period = 0;  // every n-th batch fails; 0 = none
};

// Errors: kInvalidArgument naming the parameter, its value and what it may be. Parameters of other
// names are left alone.
Result<IdentityOptions> parse_identity_options(const config::ModelConfig& config);

}  // namespace proa::backends
