#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "bench.h"
#include "fmt/format.h"
#include "health.h"
#include "index.h"
#include "infer.h"
#include "inspect.h"
#include "serve.h"
#include "serve_options.h"

namespace {

constexpr const char* kDescription =
    "proa: serve, try, load-test and inspect trained models.\n"
    "Start with `proa serve --model-repository DIR`; `proa COMMAND --help` tells the rest.";

constexpr int kUsageError = 2;

// What is wrong, and where to read more.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string command = "proa";
  for (auto inner = app->get_subcommands(); !inner.empty(); inner = inner[0]->get_subcommands()) {
    command += ' ' + inner[0]->get_name();
  }
  return fmt::format("{}\n`{} --help` tells more.\n", error.what(), command);
}

std::string join(std::span<char*> arguments) {
  std::string line;
  for (const char* argument : arguments) {
    if (!line.empty()) line += ' ';
    line += argument;
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "proa");
  app.set_version_flag("--version", std::string("proa ") + PROA_VERSION);
  app.require_subcommand(0, 1);
  app.failure_message(usage_error);

  proa::ServeOptions serve_options;
  CLI::App* serve = proa::add_serve_command(app, serve_options);
  proa::InferOptions infer_options;
  CLI::App* infer = proa::add_infer_command(app, infer_options);
  proa::BenchOptions bench_options;
  CLI::App* bench = proa::add_bench_command(app, bench_options);
  proa::InspectOptions inspect_options;
  CLI::App* inspect = proa::add_inspect_command(app, inspect_options);
  proa::IndexBuildOptions index_options;
  CLI::App* index = proa::add_index_command(app, index_options);
  proa::HealthOptions health_options;
  CLI::App* health = proa::add_health_command(app, health_options);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (serve->parsed()) return proa::run_serve(serve_options);
  if (infer->parsed()) return proa::run_infer(infer_options);
  if (index->parsed()) return proa::run_index_build(index_options);
  if (health->parsed()) return proa::run_health(health_options);
  if (bench->parsed()) {
    const std::string command_line = join({argv, static_cast<std::size_t>(argc)});
    return proa::run_bench_command(bench_options, command_line, PROA_VERSION);
  }
  if (inspect->parsed()) return proa::run_inspect(inspect_options);
  fmt::print(stderr, "A command is missing.\n\n{}", app.help());
  return kUsageError;
}
