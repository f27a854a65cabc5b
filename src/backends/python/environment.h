#pragma once

#include <filesystem>

#include "backends/python/packed_environments.h"
#include "backends/python/process.h"
#include "backends/python/settings.h"
#include "core/backend.h"

namespace proa::backends::python {

// How a model's workers are started.
struct Interpreter {
  Process::Options process;
  PackedEnvironments::Folder unpacked;  // where it is, if it was an archive; held while it is used
};

// The python3 of a model's environment or of PATH, and proa_worker.py, which is installed beside
// this executable.
// Errors: kNotFound naming what is missing and how to install it; kInvalidArgument for an
// EXECUTION_ENV_PATH that is no environment.
Result<Interpreter> find_python(const core::ModelFiles& files, const Settings& settings,
                                PackedEnvironments& archives);

// Where proa_worker.py is. Errors: kNotFound.
Result<std::filesystem::path> worker_folder();

}  // namespace proa::backends::python
