#include "serve_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace proa {
namespace {

// `--name`, `--name=false` and `--name false`, as Triton's scripts write it.
CLI::Option* add_switch(CLI::App& app, const std::string& name, bool& value,
                        const std::string& help) {
  return app.add_option(name, value, help)
      ->expected(0, 1)
      ->default_str("true")  // what the bare flag means
      ->option_text(value ? "[=true|false]  default: true" : "[=true|false]  default: false");
}

void add_endpoint(CLI::App& app, const std::string& service, Endpoint& endpoint) {
  add_switch(app, "--allow-" + service, endpoint.enabled, "Serve " + service)->group("Ports");
  app.add_option("--" + service + "-address", endpoint.address,
                 service == "metrics" ? "Address to listen on (default: --http-address)"
                                      : "Address to listen on")
      ->capture_default_str()
      ->group("Ports");
  app.add_option("--" + service + "-port", endpoint.port, "Port; 0 = any free one")
      ->capture_default_str()
      ->group("Ports");
}

void add_model_flags(CLI::App& app, ServeOptions& options) {
  app.add_option("--model-repository,--model-store", options.model_repositories,
                 "Folder with one folder a model; may be given several times")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Models");
  app.add_option("--model-control-mode", options.model_control_mode,
                 "When models are loaded: none = all at the start")
      ->check(CLI::IsMember({"none"}))
      ->capture_default_str()
      ->group("Models");
  app.add_flag(
         "--disable-auto-complete-config",
         [&options](std::int64_t) { options.auto_complete_config = false; },
         "Load only models whose configuration names its inputs and outputs")
      ->group("Models");
  add_switch(app, "--strict-readiness", options.strict_readiness,
             "Server-wide readiness fails while any model is not ready")
      ->group("Models");
  add_switch(app, "--exit-on-error", options.exit_on_error,
             "Stop when a model cannot be loaded at the start")
      ->group("Models");
  app.add_option("--model-load-thread-count", options.model_load_threads,
                 "Models that load side by side")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->group("Models");
}

void add_compression_flag(CLI::App& app, frontends::CompressionLevel& level) {
  using enum frontends::CompressionLevel;
  static const std::map<std::string, frontends::CompressionLevel> kLevels = {
      {"none", kNone}, {"low", kLow}, {"medium", kMedium}, {"high", kHigh}};
  app.add_option_function<std::string>(
         "--grpc-infer-response-compression-level",
         [&level](const std::string& name) { level = kLevels.at(name); },
         "How strong gRPC answers are compressed for clients that accept it")
      ->check(CLI::IsMember(kLevels))
      ->option_text("none|low|medium|high  default: none")
      ->group("Ports");
}

void add_limit_flags(CLI::App& app, ServeOptions& options) {
  app.add_option("--http-thread-count,--loops", options.loops,
                 "Event loop threads for all ports; 0 = one per available processor")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str()
      ->group("Limits");
  app.add_option("--http-max-input-size", options.http_max_input_bytes,
                 "Largest HTTP request body in bytes")
      ->capture_default_str()
      ->group("Limits");
  app.add_option("--grpc-max-message-size", options.grpc_max_message_bytes,
                 "Largest gRPC request message in bytes")
      ->check(CLI::Range(std::size_t{1}, std::size_t{INT32_MAX}))
      ->capture_default_str()
      ->group("Limits");
  app.add_option("--max-in-flight-bytes", options.max_in_flight_bytes,
                 "Bytes that requests in flight may hold together; more are refused with 503 / "
                 "UNAVAILABLE. 0 = half of the memory this process may use")
      ->capture_default_str()
      ->group("Limits");
  app.add_option("--exit-timeout-secs", options.exit_timeout,
                 "How long requests in flight may take after SIGTERM")
      ->group("Limits");
}

void add_log_flags(CLI::App& app, ServeOptions& options) {
  add_switch(app, "--log-info", options.log_info, "Log information")->group("Logging");
  add_switch(app, "--log-warning", options.log_warning, "Log warnings")->group("Logging");
  add_switch(app, "--log-error", options.log_error, "Log errors")->group("Logging");
  app.add_option("--log-verbose", options.log_verbose, "Log details when > 0")
      ->expected(0, 1)
      ->capture_default_str()
      ->group("Logging");
}

}  // namespace

CLI::App* add_serve_command(CLI::App& app, ServeOptions& options) {
  CLI::App* serve = app.add_subcommand(
      "serve", "Serve a model repository over KServe v2 HTTP and gRPC, with metrics");
  serve->add_option("--id", options.server_id, "Name in the server's metadata")
      ->capture_default_str();
  add_model_flags(*serve, options);
  add_endpoint(*serve, "http", options.http);
  add_endpoint(*serve, "grpc", options.grpc);
  add_endpoint(*serve, "metrics", options.metrics);
  add_compression_flag(*serve, options.grpc_compression);
  add_limit_flags(*serve, options);
  add_log_flags(*serve, options);
  return serve;
}

}  // namespace proa
