#include "serve_options.h"

#include <CLI/CLI.hpp>
#include <concepts>
#include <map>
#include <string>

#include "fmt/format.h"

namespace proa {
namespace {

// `--name`, `--name=false` and `--name false`, as Triton's scripts write it.
CLI::Option* add_switch(CLI::App& app, const std::string& name, bool& value,
                        const std::string& help) {
  return app.add_option(name, value, help)
      ->expected(0, 1)
      ->default_str("true")  // what the bare flag means
      ->option_text(fmt::format("[=true|false]  (default {})", value));
}

// A number of at least `low` and at most `high`.
template <std::integral Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& value,
                        const std::string& help, Number low, Number high) {
  return app.add_option(name, value, help)
      ->check(CLI::Range(low, high))
      ->option_text(fmt::format("N  (default {})", value));
}

void add_endpoint(CLI::App& app, const std::string& flag, const std::string& service,
                  Endpoint& endpoint) {
  add_switch(app, "--allow-" + flag, endpoint.enabled, "Open the port for " + service)
      ->group("Ports");
  app.add_option("--" + flag + "-address", endpoint.address, "Address to listen on")
      ->option_text(endpoint.address.empty()
                        ? "ADDRESS  (default: that of --http-address)"
                        : fmt::format("ADDRESS  (default {}, every network)", endpoint.address))
      ->group("Ports");
  add_number<std::uint16_t>(app, "--" + flag + "-port", endpoint.port, "0 = any free port", 0,
                            UINT16_MAX)
      ->group("Ports");
}

void add_model_flags(CLI::App& app, ServeOptions& options) {
  // Whether it is there is for run_serve() to check: a mistyped name of it is told first.
  app.add_option("--model-repository,--model-store", options.model_repositories,
                 "Folder with one folder a model; may be given several times")
      ->option_text("FOLDER  (required)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Models");
  app.add_option("--model-control-mode", options.model_control_mode,
                 "When models are loaded: none = all at the start")
      ->check(CLI::IsMember({"none"}))
      ->option_text("none  (default none)")
      ->group("Models");
  app.add_flag(
         "--disable-auto-complete-config",
         [&options](std::int64_t) { options.auto_complete_config = false; },
         "Load only models whose configuration names inputs and outputs")
      ->group("Models");
  add_switch(app, "--strict-readiness", options.strict_readiness,
             "The server is not ready while any model is not")
      ->group("Models");
  add_switch(app, "--exit-on-error", options.exit_on_error,
             "Stop when a model cannot be loaded at the start")
      ->group("Models");
  add_number(app, "--model-load-thread-count", options.model_load_threads,
             "Models that load side by side", 1, 256)
      ->group("Models");
  add_switch(app, "--gpu-models-on-cpu", options.gpu_models_on_cpu,
             "Run models of KIND_GPU on the CPU, for machines without a GPU")
      ->group("Models");
  app.add_option("--gpu-tuning-cache", options.gpu_tuning_cache,
                 "File that keeps which GPU kernels are fastest: later starts\n"
                 "take seconds instead of minutes")
      ->option_text("FILE  (default none)")
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
      ->option_text("none|low|medium|high  (default none)")
      ->group("Ports");
}

void add_limit_flags(CLI::App& app, ServeOptions& options) {
  add_number(app, "--http-thread-count,--loops", options.loops,
             "Event loop threads of all ports; 0 = one per processor", 0, 1024)
      ->group("Limits");
  add_number(app, "--http-max-input-size", options.http_max_input_bytes,
             "Bytes of an HTTP request's body", std::size_t{1}, SIZE_MAX)
      ->group("Limits");
  add_number(app, "--grpc-max-message-size", options.grpc_max_message_bytes,
             "Bytes of a gRPC request message", std::size_t{1}, std::size_t{INT32_MAX})
      ->group("Limits");
  add_number(app, "--max-in-flight-bytes", options.max_in_flight_bytes,
             "Bytes that all requests in flight may hold; more are refused\n"
             "with 503 or UNAVAILABLE; 0 = half of the usable memory",
             std::size_t{0}, SIZE_MAX)
      ->group("Limits");
  add_number(app, "--exit-timeout-secs", options.exit_timeout_s,
             "Time that requests in flight have after SIGTERM", 0, 86'400)
      ->group("Limits");
}

void add_metrics_flags(CLI::App& app, observe::MetricsOptions& options) {
  add_switch(app, "--allow-cpu-metrics", options.cpu, "Export the machine's processor and memory")
      ->group("Metrics");
  add_switch(app, "--allow-gpu-metrics", options.gpu, "Export GPUs, when a backend uses them")
      ->group("Metrics");
  app.add_option_function<std::int64_t>(
         "--metrics-interval-ms",
         [&options](std::int64_t ms) { options.interval = std::chrono::milliseconds(ms); },
         "Time over which the machine's utilisation is measured")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400'000}))
      ->option_text(fmt::format("N  (default {})", options.interval.count()))
      ->group("Metrics");
  app.add_option_function<std::vector<std::string>>(
         "--metrics-config",
         [&options](const std::vector<std::string>& settings) {
           for (const std::string& setting : settings) {
             const Status status = observe::set_metrics_option(options, setting);
             if (!status) throw CLI::ValidationError("--metrics-config", status.error().message);
           }
         },
         "counter_latencies, histogram_latencies, summary_latencies=true|false,\n"
         "summary_quantiles=0.5:0.05,...; may be given several times")
      ->option_text("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Metrics");
}

void add_log_flags(CLI::App& app, ServeOptions& options) {
  add_switch(app, "--log-info", options.log_info, "Log information")->group("Logging");
  add_switch(app, "--log-warning", options.log_warning, "Log warnings")->group("Logging");
  add_switch(app, "--log-error", options.log_error, "Log errors")->group("Logging");
  app.add_option("--log-verbose", options.log_verbose, "Log details when above 0")
      ->expected(0, 1)
      ->default_str("1")
      ->option_text("[=N]  (default 0)")
      ->group("Logging");
}

constexpr const char* kFooter =
    "\nNobody is asked for a key and nothing is encrypted: keep the ports on a network you\n"
    "trust, or on 127.0.0.1 behind a proxy. Equal ports are one port that serves both.\n"
    "\nExamples:\n"
    "  proa serve --model-repository models\n"
    "  proa serve --model-repository models --http-address 127.0.0.1 --grpc-address 127.0.0.1\n"
    "  proa serve --model-repository models --http-port 9000 --allow-grpc=false";

}  // namespace

CLI::App* add_serve_command(CLI::App& app, ServeOptions& options) {
  CLI::App* serve = app.add_subcommand(
      "serve", "Serve a model repository over KServe v2 HTTP and gRPC, with metrics");
  // A flag that is given again replaces the earlier one, so that scripts can append to a command.
  serve->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  serve->add_option("--id", options.server_id, "Name in the server's metadata")
      ->option_text("NAME  (default proa)");
  add_model_flags(*serve, options);
  add_endpoint(*serve, "http", "KServe v2 over HTTP", options.http);
  add_endpoint(*serve, "grpc", "KServe v2 over gRPC", options.grpc);
  add_endpoint(*serve, "metrics", "/metrics", options.metrics);
  add_compression_flag(*serve, options.grpc_compression);
  add_limit_flags(*serve, options);
  add_metrics_flags(*serve, options.metrics_options);
  add_log_flags(*serve, options);
  serve->footer(kFooter);
  return serve;
}

}  // namespace proa
