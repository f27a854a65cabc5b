#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/complete.h"

namespace CLI {
class App;
}

namespace proa {

struct InspectOptions {
  std::filesystem::path path;  // a model file, a model's folder, or a repository
  bool config_only = false;
  bool cuda = false;                     // what would run on a GPU
  std::vector<std::string> shapes;       // with `cuda`: "NAME:3,640,640" for open extents
  bool check = false;                    // only whether the models of a repository would be served
  bool json = false;                     // what `cuda` or `check` tells, as JSON
  config::CompletionOptions completion;  // of `check`
};

// Adds `proa inspect` to `app`; `options` must outlive the parsing.
CLI::App* add_inspect_command(CLI::App& app, InspectOptions& options);

// `proa inspect`: what a model takes, gives and holds, and a configuration for it; for a repository
// what its models take and give, or with --check what is wrong with them. Nothing is compiled or
// served.
// Returns the process's exit status: 0, 1 when something could not be read or would not be served,
// 2 after wrong usage.
int run_inspect(const InspectOptions& options);

}  // namespace proa
