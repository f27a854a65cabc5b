#include "bench_refused_flags.h"

#include <array>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "fmt/format.h"

namespace proa {
namespace {

struct Refused {
  const char* flags;
  const char* why;
};

// perf_analyzer's flags that have no counterpart, so that scripts are told why.
constexpr std::array<Refused, 20> kRefused = {{
    {"--shared-memory", "requests always carry their tensors"},
    {"--output-shared-memory-size", "requests always carry their tensors"},
    {"--service-kind",
     "only KServe v2 servers are spoken to; --engine runs a model in this process"},
    {"--endpoint", "only KServe v2 servers are spoken to"},
    {"--triton-server-directory", "--engine runs a model in this process"},
    {"--model-repository", "--engine PATH takes the model itself"},
    {"--bls-composing-models", "composing models are found in the ensemble's configuration"},
    {"--periodic-concurrency-range", "--stages changes the load while it runs"},
    {"--request-period", "--stages changes the load while it runs"},
    {"--data-directory", "--input-data takes folders"},
    {"--grpc-compression-algorithm", "requests are sent as they are"},
    {"--enable-mpi", "one process with --max-threads is the whole generator"},
    {"--trace-level", "traces are the server's to configure"},
    {"--trace-rate", "traces are the server's to configure"},
    {"--trace-count", "traces are the server's to configure"},
    {"--log-frequency", "traces are the server's to configure"},
    {"--sync", "sending never waits for answers; --concurrency-range 1 has one request in flight"},
    {"--ssl-grpc-use-ssl", "TLS is not supported"},
    {"--ssl-https-verify-peer", "TLS is not supported"},
    {"--metrics-interval", "metrics are read before and after the measurement"},
}};

void add_idle_flag(CLI::App& command, const char* flags, const char* why) {
  command.add_flag_callback(
             flags, [] {}, fmt::format("No effect: {}", why))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)  // scripts say -v -v
      ->group("For perf_analyzer's scripts");
}

}  // namespace

void add_other_perf_analyzer_flags(CLI::App& command) {
  add_idle_flag(command, "-a,--async", "sending never waits for answers");
  add_idle_flag(command, "--serial-sequences", "a sequence has one request in flight");
  add_idle_flag(command, "-v,--verbose", "--json and --html hold every window");
  for (const Refused& refused : kRefused) {
    command
        .add_option_function<std::vector<std::string>>(
            refused.flags,
            [refused](const std::vector<std::string>&) {
              throw CLI::ValidationError(refused.flags,
                                         fmt::format("is not for proa bench: {}", refused.why));
            },
            "")
        ->expected(0, 1)
        ->group("");  // hidden
  }
}

}  // namespace proa
