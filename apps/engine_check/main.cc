// engine_check: checks and times the CUDA engine on a GPU machine; tools/gpu/check_engine.sh runs
// it.
#include "CLI/CLI.hpp"
#include "checks.h"
#include "fmt/core.h"

namespace proa::engine_check {
namespace {

int finish(const Status& status, const Report& report) {
  if (!status) fmt::print("FAILED: {}\n", status.error().message);
  fmt::print("{} passed, {} failed\n", report.passed(), report.failed() + (status ? 0 : 1));
  return status && report.failed() == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("Checks the CUDA engine against the host");
  app.require_subcommand(1);
  CaseOptions case_options;
  CLI::App* cases = app.add_subcommand("cases", "operator cases against the host reference");
  cases->add_option("folder", case_options.folder)->required();
  cases->add_flag("--tune", case_options.tune, "time candidates instead of taking the first");
  cases->add_flag("--own", case_options.own_only, "only the engine's own kernels, no libraries");
  NetworkOptions options;
  bool first = false, unchecked = false;
  CLI::App* network = app.add_subcommand("network", "a model against OpenVINO, then its times");
  network->add_option("model", options.model)->required();
  network->add_option("--buckets", options.buckets, "batch sizes")->delimiter(',');
  network->add_option("--cache", options.cache, "tuning results, read and written");
  network->add_option("--threads", options.threads, "that build kernels");
  network->add_option("--precision", options.precision, "f16, tf32 or f32")
      ->check(CLI::IsMember({"f16", "tf32", "f32"}));
  network->add_option("--streams", options.streams, "also time that many streams side by side");
  network->add_flag("--candidates", options.candidates,
                    "print the times of all candidates of steps that the cache does not know");
  network->add_flag("--first", first, "take the first kernel that builds");
  network->add_flag("--unchecked", unchecked, "only times");
  CLI11_PARSE(app, argc, argv);
  Report report;
  if (cases->parsed()) return finish(check_cases(case_options, report), report);
  options.tune = !first;
  options.check = !unchecked;
  return finish(check_network(options, report), report);
}

}  // namespace
}  // namespace proa::engine_check

int main(int argc, char** argv) {
  // OpenVINO's tbbbind beside another allocator aborts at exit; it is of no use here.
  setenv("TBB_ENABLE_SANITIZERS", "1", 1);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  return proa::engine_check::run(argc, argv);
}
