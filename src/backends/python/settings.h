#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"

namespace proa::backends::python {

// What a model's `parameters` say to this backend; docs/backend-python.md lists them. Others are
// model.py's own.
struct Settings {
  // EXECUTION_ENV_PATH: a folder with bin/python3, or a packed one; "" = the python3 of PATH.
  std::string environment;
  std::chrono::seconds execute_timeout{300};     // without an answer; 0 = none
  std::chrono::seconds initialize_timeout{600};  // from the start of the process; 0 = none
  std::chrono::seconds finalize_timeout{10};
  // Of input memory that model.py may keep after `execute`; beyond it gets copies.
  std::size_t kept_bytes = std::size_t{256} << 20;
  // Batches that a worker has, of which it computes one at a time: a single worker does not wait
  // for the next; among several, each batch goes to the one that is free first.
  int max_in_flight = 2;
};

// Errors: kInvalidArgument naming the parameter, its value and what may stand there.
Result<Settings> parse_settings(const config::ModelConfig& config);

}  // namespace proa::backends::python
