#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backend_config.h"
#include "base/log.h"
#include "frontends/options.h"
#include "net/limits.h"
#include "observe/metrics_options.h"
#include "repository_flags.h"
#include "triton_flags.h"

namespace CLI {
class App;
}

namespace proa {

// Where one service listens.
struct Endpoint {
  bool enabled = true;
  std::string address;
  std::uint16_t port = 0;   // 0 = any free one
  bool reuse_port = false;  // share it with other processes of this user
  frontends::HeaderForward header_forward;
};

// What `proa serve` was asked to do. Flags carry the names of Triton's, so that start scripts carry
// over; docs/serve.md lists them.
struct ServeOptions {
  std::vector<std::filesystem::path> model_repositories;
  RepositoryFlags repository;
  bool auto_complete_config = true;
  BackendConfig backend_config;
  bool strict_readiness = false;
  bool exit_on_error = false;
  int exit_timeout_s = 30;
  int model_load_threads = 4;
  bool gpu_models_on_cpu = false;
  std::string gpu_tuning_cache;             // "" = nothing is kept
  std::map<int, double> gpu_memory_limits;  // by device: the share that may be in use after a load

  std::string server_id = "proa";
  Endpoint http{.address = "0.0.0.0", .port = 8000};
  Endpoint grpc{.address = "0.0.0.0", .port = 8001};
  Endpoint metrics{.port = 8002};  // address "" = http's
  net::Limits limits;              // of every port; flags set keep-alive and age of HTTP/2
  int loops = 0;                   // event loop threads; 0 = one per available processor
  std::size_t http_max_input_bytes = 64 << 20;
  std::size_t grpc_max_message_bytes = INT32_MAX;
  frontends::CompressionLevel grpc_compression = frontends::CompressionLevel::kNone;
  std::size_t max_in_flight_bytes = 0;  // 0 = half of the memory this process may use

  observe::MetricsOptions metrics_options;

  log::Options log;
  GivenFlags unused;                    // flags of Triton's that do not work
  std::vector<std::string> deprecated;  // a line for each old flag that was given
};

// Adds `serve` and its flags to `app`; the returned subcommand fills `options` when it is parsed.
CLI::App* add_serve_command(CLI::App& app, ServeOptions& options);

}  // namespace proa
