#include <CLI/CLI.hpp>

#include "serve.h"
#include "serve_options.h"

namespace {

constexpr const char* kDescription =
    "proa: serve, try and inspect trained models.\n"
    "Start with `proa serve --model-repository DIR`; `proa COMMAND --help` tells the rest.";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kDescription, "proa");
  app.set_version_flag("--version", std::string("proa ") + PROA_VERSION);
  app.require_subcommand(1);

  proa::ServeOptions serve_options;
  CLI::App* serve = proa::add_serve_command(app, serve_options);

  CLI11_PARSE(app, argc, argv);
  if (serve->parsed()) return proa::run_serve(serve_options);
  return 0;
}
