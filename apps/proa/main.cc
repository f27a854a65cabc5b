#include <CLI/CLI.hpp>

#include "infer.h"
#include "inspect.h"
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
  proa::InferOptions infer_options;
  CLI::App* infer = proa::add_infer_command(app, infer_options);
  proa::InspectOptions inspect_options;
  CLI::App* inspect = proa::add_inspect_command(app, inspect_options);

  CLI11_PARSE(app, argc, argv);
  if (serve->parsed()) return proa::run_serve(serve_options);
  if (infer->parsed()) return proa::run_infer(infer_options);
  if (inspect->parsed()) return proa::run_inspect(inspect_options);
  return 0;
}
