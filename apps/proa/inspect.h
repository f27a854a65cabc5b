#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace proa {

struct InspectOptions {
  std::filesystem::path path;  // a model file, a model's folder, or a repository
  bool config_only = false;
  bool cuda = false;  // what would run on a GPU
  bool json = false;  // that as JSON
};

// Adds `proa inspect` to `app`; `options` must outlive the parsing.
CLI::App* add_inspect_command(CLI::App& app, InspectOptions& options);

// `proa inspect`: what a model takes, gives and holds, and a configuration for it; for a repository
// one line per model. Nothing is compiled or served.
// Returns the process's exit status: 0, 1 when something could not be read, 2 after wrong usage.
int run_inspect(const InspectOptions& options);

}  // namespace proa
