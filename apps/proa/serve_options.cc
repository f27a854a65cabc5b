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

// A time after which something happens, in milliseconds as in Triton's gRPC flags.
void add_milliseconds(CLI::App& app, const std::string& name, std::chrono::milliseconds& value,
                      const std::string& help, const char* shown_default) {
  app.add_option_function<std::int32_t>(
         name,
         [&value](std::int32_t given) {
           // Triton's way to say "never".
           value = std::chrono::milliseconds(given == INT32_MAX ? 0 : given);
         },
         help)
      ->check(CLI::Range(1, INT32_MAX))
      ->option_text(fmt::format("MS  (default {})", shown_default))
      ->group("gRPC connections");
}

void add_header_forward(CLI::App& app, const std::string& flag, const std::string& what,
                        frontends::HeaderForward& forward) {
  app.add_option_function<std::string>(
         flag,
         [&forward, flag](const std::string& pattern) {
           auto compiled = frontends::HeaderForward::compile(pattern);
           if (!compiled) throw CLI::ValidationError(flag, compiled.error().message);
           forward = *std::move(compiled);
         },
         "Regular expression; " + what +
             " whose name holds a match\nbecome parameters of the request")
      ->option_text("REGEX  (default: none)")
      ->group("Ports");
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

void add_port_flags(CLI::App& app, ServeOptions& options) {
  add_endpoint(app, "http", "KServe v2 over HTTP", options.http);
  add_endpoint(app, "grpc", "KServe v2 over gRPC", options.grpc);
  add_endpoint(app, "metrics", "/metrics", options.metrics);
  for (auto& [flag, endpoint] : {std::pair("http", &options.http), {"grpc", &options.grpc}}) {
    add_switch(app, fmt::format("--reuse-{}-port", flag), endpoint->reuse_port,
               "Share the port with other servers of this user")
        ->group("Ports");
  }
  add_header_forward(app, "--http-header-forward-pattern", "headers", options.http.header_forward);
  add_header_forward(app, "--grpc-header-forward-pattern", "metadata", options.grpc.header_forward);
}

void add_grpc_connection_flags(CLI::App& app, net::Limits& limits) {
  constexpr const char* kGroup = "gRPC connections";
  add_milliseconds(app, "--grpc-keepalive-time", limits.ping_interval,
                   "Ping a client that was silent so long", "7200000");
  add_milliseconds(app, "--grpc-keepalive-timeout", limits.ping_timeout,
                   "Cut it when no answer comes in that time", "20000");
  app.add_option_function<int>(
         "--grpc-keepalive-permit-without-calls",
         [&limits](int permit) {
           limits.ping_without_streams = limits.permit_pings_without_streams = permit != 0;
         },
         "Pings on connections without calls, both ways")
      ->check(CLI::Range(0, 1))
      ->option_text("0|1  (default 0)")
      ->group(kGroup);
  add_number<std::uint32_t>(
      app, "--grpc-http2-max-pings-without-data", limits.max_pings_without_data,
      "Pings to a client without data in between; 0 = any number", 0, INT32_MAX)
      ->group(kGroup);
  app.add_option_function<std::int32_t>(
         "--grpc-http2-min-recv-ping-interval-without-data",
         [&limits](std::int32_t given) {
           limits.min_ping_interval = std::chrono::milliseconds(given);
         },
         "Pings of a client that come sooner are strikes")
      ->check(CLI::Range(0, INT32_MAX))
      ->option_text("MS  (default 300000)")
      ->group(kGroup);
  add_number<std::uint32_t>(app, "--grpc-http2-max-ping-strikes", limits.max_ping_strikes,
                            "Strikes that a client may have; 0 = any number", 0, INT32_MAX)
      ->group(kGroup);
  add_milliseconds(app, "--grpc-max-connection-age", limits.max_connection_age,
                   "End connections of that age", "never");
  add_milliseconds(app, "--grpc-max-connection-age-grace", limits.age_grace,
                   "Time that calls have to end then", "unlimited");
}

void add_model_flags(CLI::App& app, ServeOptions& options) {
  // Whether it is there is for run_serve() to check: a mistyped name of it is told first.
  app.add_option("--model-repository,--model-store", options.model_repositories,
                 "Folder with one folder a model; may be given several times")
      ->option_text("FOLDER  (required)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Models");
  add_repository_flags(app, options.repository);
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
  app.add_option_function<std::vector<std::string>>(
         "--model-load-gpu-limit",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const Status status = read_gpu_limit(text, options.gpu_memory_limits);
             if (!status) {
               throw CLI::ValidationError("--model-load-gpu-limit", status.error().message);
             }
           }
         },
         "Share of a GPU's memory that may be in use after a model\n"
         "was loaded; loads beyond it fail. Repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text("GPU:SHARE  (default none)")
      ->group("Models");
}

void add_backend_flags(CLI::App& app, ServeOptions& options) {
  app.add_option_function<bool>(
         "--strict-model-config",
         [&options](bool strict) {
           options.auto_complete_config = !strict;
           options.deprecated.emplace_back(
               "--strict-model-config is deprecated: use --disable-auto-complete-config");
         },
         "")
      ->expected(0, 1)
      ->default_str("true")
      ->group("");
  app.add_option_function<std::vector<std::string>>(
         "--backend-config",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const Status status = read_backend_config(text, options.backend_config);
             if (!status) throw CLI::ValidationError("--backend-config", status.error().message);
           }
         },
         "Of these settings default-max-batch-size is followed: the batch\nsize of models that can "
         "batch and do not say how far (4)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text("[BACKEND,]KEY=VALUE")
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
  add_switch(app, "--allow-gpu-metrics", options.gpu, "Export the machine's NVIDIA GPUs")
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

void add_log_flags(CLI::App& app, log::Options& options) {
  constexpr const char* kGroup = "Logging";
  add_switch(app, "--log-info", options.info, "Log information")->group(kGroup);
  add_switch(app, "--log-warning", options.warning, "Log warnings")->group(kGroup);
  add_switch(app, "--log-error", options.error, "Log errors")->group(kGroup);
  app.add_option("--log-verbose", options.verbose, "Log details when above 0")
      ->expected(0, 1)
      ->default_str("1")
      ->option_text("[=N]  (default 0)")
      ->group(kGroup);
  app.add_option_function<std::string>(
         "--log-format",
         [&options](const std::string& name) { options.format = *log::parse_format(name); },
         "How a line begins")
      ->check(CLI::IsMember({"default", "ISO8601"}))
      ->option_text("default|ISO8601  (default ISO8601)")
      ->group(kGroup);
  app.add_option("--log-file", options.file, "Append to this file instead of stderr")
      ->option_text("FILE")
      ->group(kGroup);
}

constexpr const char* kFooter =
    "\nNobody is asked for a key and nothing is encrypted: keep the ports on a network you\n"
    "trust, or on 127.0.0.1 behind a proxy. Equal ports are one port that serves both.\n"
    "\nEvery other flag of tritonserver is answered with a sentence (docs/serve.md).\n"
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
  add_backend_flags(*serve, options);
  add_port_flags(*serve, options);
  add_compression_flag(*serve, options.grpc_compression);
  add_grpc_connection_flags(*serve, options.limits);
  add_limit_flags(*serve, options);
  add_metrics_flags(*serve, options.metrics_options);
  add_log_flags(*serve, options.log);
  add_unused_triton_flags(*serve, options.unused);
  serve->footer(kFooter);
  return serve;
}

}  // namespace proa
