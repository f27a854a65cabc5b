#include "health.h"

#include "CLI/CLI.hpp"
#include "fmt/format.h"
#include "http_client.h"

namespace proa {
namespace {

std::string path_of(const HealthOptions& options) {
  if (options.model.empty()) return options.live ? "/v2/health/live" : "/v2/health/ready";
  return "/v2/models/" + options.model + "/ready";
}

int fail(const std::string& why, int status) {
  fmt::print(stderr, "{}\n", why);
  return status;
}

}  // namespace

CLI::App* add_health_command(CLI::App& app, HealthOptions& options) {
  CLI::App* command =
      app.add_subcommand("health", "Ask a server whether it is ready; the exit status tells");
  command->add_option("--url", options.url, "Server, like http://127.0.0.1:8000")
      ->option_text("URL  (default " + options.url + ")");
  CLI::Option* live = command->add_flag("--live", options.live, "Ask whether it runs at all");
  command->add_option("--model", options.model, "Ask for that model instead of the server")
      ->option_text("NAME")
      ->excludes(live);
  command->add_option("--timeout", options.timeout_s, "How long to wait for the answer")
      ->option_text("SECONDS  (default 5)")
      ->check(CLI::Range(0.001, 86400.0));
  return command;
}

int run_health(const HealthOptions& options) {
  const auto server = parse_server_url(options.url);
  if (!server) return fail(server.error().message, 2);
  HttpClient client(*server, std::chrono::milliseconds(std::llround(options.timeout_s * 1000)));
  const std::string path = path_of(options);
  const auto reply = client.get(path);
  if (!reply) return fail(reply.error().message, 1);
  if (reply->status == 200) return 0;
  return fail(fmt::format("{}{}: {} {}", server->url(), path, reply->status, reply->text()), 1);
}

}  // namespace proa
