#pragma once

#include <string>

namespace CLI {
class App;
}

namespace proa {

struct HealthOptions {
  std::string url = "http://127.0.0.1:8000";
  bool live = false;  // whether it runs, instead of whether it is ready
  std::string model;  // that model instead of the server; "" = the server
  double timeout_s = 5;
};

// Adds `proa health` to `app`; `options` must outlive the parsing.
CLI::App* add_health_command(CLI::App& app, HealthOptions& options);

// `proa health`: asks a server whether it is ready, for container probes and scripts.
// Returns the process's exit status: 0 when it is, 1 when not (stderr says why), 2 after wrong
// usage.
int run_health(const HealthOptions& options);

}  // namespace proa
