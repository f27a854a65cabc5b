#include "backends/python/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/log.h"

extern char** environ;

namespace proa::backends::python {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelFolder = "$$TRITON_MODEL_DIRECTORY";

bool can_run(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; }

Result<fs::path> python_of_path() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (folder.starts_with('/') && can_run(fs::path(folder) / "python3")) {
      return fs::path(folder) / "python3";
    }
  }
  return error::not_found(
      "there is no python3 in PATH: install Python 3.9 or newer with numpy (apt install python3 "
      "python3-numpy), or name an environment in the parameter EXECUTION_ENV_PATH");
}

// The environment's python3, and its folder.
Result<fs::path> python_of(const fs::path& folder) {
  for (const char* name : {"bin/python3", "bin/python"}) {
    if (can_run(folder / name)) return folder / name;
  }
  return error::invalid_argument(
      "parameter EXECUTION_ENV_PATH: '{}' holds no bin/python3; name a virtual environment "
      "(python3 "
      "-m venv) or an unpacked conda environment",
      log::printable(folder.native()));
}

// Ours, with the environment's programs first.
std::vector<std::string> variables(const fs::path& environment_folder) {
  std::vector<std::string> result;
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  for (char** next = environ; *next != nullptr; ++next) {
    const std::string_view variable = *next;
    if (variable.starts_with("PATH=")) {
      path = variable.substr(5);
    } else if (environment_folder.empty() ||
               (!variable.starts_with("VIRTUAL_ENV=") && !variable.starts_with("PYTHONHOME="))) {
      result.emplace_back(variable);
    }
  }
  if (!environment_folder.empty()) {
    path = (environment_folder / "bin").native() + ":" + path;
    result.push_back("VIRTUAL_ENV=" + environment_folder.native());
  }
  result.push_back("PATH=" + path);
  return result;
}

}  // namespace

Result<fs::path> worker_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path folder = program.parent_path().parent_path() / "share" / "proa" / "python";
  if (!failed && fs::exists(folder / "proa_worker.py", failed)) return folder;
  return error::not_found("'{}' is missing: install proa whole",
                          (folder / "proa_worker.py").native());
}

Result<Interpreter> find_python(const core::ModelFiles& files, const Settings& settings,
                                PackedEnvironments& archives) {
  Interpreter found;
  fs::path environment;
  if (settings.environment.empty()) {
    PROA_ASSIGN(found.process.program, python_of_path());
  } else {
    std::string named = settings.environment;
    if (const auto at = named.find(kModelFolder); at != std::string::npos) {
      named.replace(at, kModelFolder.size(), files.model_folder.native());
    }
    std::error_code failed;
    environment = fs::absolute(named, failed);
    if (failed) {
      return error::not_found("parameter EXECUTION_ENV_PATH: '{}': {}", log::printable(named),
                              failed.message());
    }
    if (PackedEnvironments::is_archive(environment)) {
      PROA_ASSIGN(found.unpacked, archives.unpack(environment));
      environment = *found.unpacked;
    }
    PROA_ASSIGN(found.process.program, python_of(environment));
  }
  PROA_ASSIGN(const fs::path worker, worker_folder());
  found.process.arguments = {"-u", (worker / "proa_worker.py").native()};
  found.process.environment = variables(environment);
  return found;
}

}  // namespace proa::backends::python
