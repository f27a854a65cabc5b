#include "triton_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/log.h"
#include "fmt/format.h"

namespace proa {
namespace {

constexpr FlagFate kWorks = FlagFate::kWorks;
constexpr FlagFate kWarning = FlagFate::kWarning;
constexpr FlagFate kError = FlagFate::kError;

constexpr std::string_view kNoTls =
    "encrypts gRPC; TLS is not built, and nothing is served in the clear where it was asked for: "
    "end TLS in a proxy and leave the flag out";
constexpr std::string_view kOnlyWithTls =
    "names a file for --grpc-use-ssl, which is not built; without that flag it has no effect";
constexpr std::string_view kNoRestriction =
    "asks clients for a key; keys are not built, and the port would be open to all: ask for the "
    "key in a proxy and leave the flag out";
constexpr std::string_view kNoSageMaker =
    "opens SageMaker's own paths (/ping, /invocations), which are not built: use the KServe v2 "
    "paths and leave the flag out";
constexpr std::string_view kOnlyWithSageMaker = "has no effect without --allow-sagemaker";
constexpr std::string_view kNoVertex =
    "opens Vertex AI's own paths (AIP_*), which are not built: use the KServe v2 paths and leave "
    "the flag out";
constexpr std::string_view kOnlyWithVertex = "has no effect without --allow-vertex-ai";
constexpr std::string_view kNoTrace =
    "writes traces, which are not built: metrics and statistics tell where time goes";
constexpr std::string_view kNoCache =
    "sets up the response cache, which is not built: every response is computed";
constexpr std::string_view kNoGpu =
    "steers GPU memory of another product; the CUDA engine plans its own, pinned memory included";
constexpr std::string_view kNoPool =
    "sizes a pool of messages; messages live in blocks of their own, bounded by "
    "--max-in-flight-bytes";

constexpr TritonFlag kFlags[] = {
    {"help"},
    {"id"},
    {"exit-timeout-secs"},
    {"model-repository"},
    {"model-store"},
    {"exit-on-error"},
    {"disable-auto-complete-config"},
    {"strict-readiness"},
    {"model-control-mode"},
    {"repository-poll-secs"},
    {"load-model"},
    {"model-config-name"},
    {"model-load-thread-count"},
    {"model-load-retry-count"},
    {"model-namespacing", kError,
     "lets two repositories hold models of one name, which is not built: rename one of them",
     "false"},
    {"enable-peer-access", kWarning, "lets GPUs read each other's memory, which is not built"},
    {"model-load-gpu-limit"},
    {"allow-http"},
    {"http-address"},
    {"http-port"},
    {"reuse-http-port"},
    {"http-header-forward-pattern"},
    {"http-thread-count"},
    {"http-max-input-size"},
    {"http-restricted-api", kError, kNoRestriction},
    {"allow-grpc"},
    {"grpc-address"},
    {"grpc-port"},
    {"reuse-grpc-port"},
    {"grpc-header-forward-pattern"},
    {"grpc-infer-thread-count", kWarning,
     "sets threads for gRPC alone; --http-thread-count sets the event loops of all ports"},
    {"grpc-infer-allocation-pool-size", kWarning, kNoPool},
    {"grpc-max-response-pool-size", kWarning, kNoPool},
    {"grpc-use-ssl", kError, kNoTls, "false"},
    {"grpc-use-ssl-mutual", kError, kNoTls, "false"},
    {"grpc-server-cert", kWarning, kOnlyWithTls},
    {"grpc-server-key", kWarning, kOnlyWithTls},
    {"grpc-root-cert", kWarning, kOnlyWithTls},
    {"grpc-infer-response-compression-level"},
    {"grpc-restricted-protocol", kError, kNoRestriction},
    {"grpc-keepalive-time"},
    {"grpc-keepalive-timeout"},
    {"grpc-keepalive-permit-without-calls"},
    {"grpc-http2-max-pings-without-data"},
    {"grpc-http2-min-recv-ping-interval-without-data"},
    {"grpc-http2-max-ping-strikes"},
    {"grpc-max-connection-age"},
    {"grpc-max-connection-age-grace"},
    {"log-verbose"},
    {"log-info"},
    {"log-warning"},
    {"log-error"},
    {"log-format"},
    {"log-file"},
    {"allow-sagemaker", kError, kNoSageMaker, "false"},
    {"sagemaker-port", kWarning, kOnlyWithSageMaker},
    {"sagemaker-thread-count", kWarning, kOnlyWithSageMaker},
    {"sagemaker-safe-port-range", kWarning, kOnlyWithSageMaker},
    {"allow-vertex-ai", kError, kNoVertex, "false"},
    {"vertex-ai-port", kWarning, kOnlyWithVertex},
    {"vertex-ai-thread-count", kWarning, kOnlyWithVertex},
    {"vertex-ai-default-model", kWarning, kOnlyWithVertex},
    {"allow-metrics"},
    {"allow-gpu-metrics"},
    {"allow-cpu-metrics"},
    {"metrics-address"},
    {"metrics-port"},
    {"metrics-interval-ms"},
    {"metrics-config"},
    {"trace-config", kWarning, kNoTrace},
    {"cache-config", kWarning, kNoCache},
    {"cache-directory", kWarning, kNoCache},
    {"rate-limit", kError,
     "holds instances back that share resources, which is not built: set instance_group counts "
     "that fit the machine, and leave the flag out",
     "off"},
    {"rate-limit-resource", kWarning, "has no effect without --rate-limit"},
    {"pinned-memory-pool-byte-size", kWarning, kNoGpu},
    {"cuda-memory-pool-byte-size", kWarning, kNoGpu},
    {"cuda-virtual-address-size", kWarning, kNoGpu},
    {"min-supported-compute-capability", kWarning,
     "leaves out old GPUs; the CUDA engine says itself where it runs"},
    {"buffer-manager-thread-count", kWarning,
     "sets threads that gather inputs; each batch is gathered by the thread that starts it"},
    {"host-policy", kWarning,
     "pins instances to processors; run the server under taskset, numactl or a cpuset, which it "
     "follows"},
    {"allow-client-shm", kError,
     "lets clients register shared memory, which is not built: let them send tensors in the "
     "request, and leave the flag out",
     "false"},
    {"backend-directory", kWarning,
     "says where backends are loaded from; they are part of the executable"},
    {"backend-config"},
    {"repoagent-directory", kWarning,
     "says where repository agents are loaded from; a model that asks for one is refused"},
    {"strict-model-config"},
    {"response-cache-byte-size", kWarning, kNoCache, "0"},
    {"trace-file", kWarning, kNoTrace},
    {"trace-level", kWarning, kNoTrace, "OFF"},
    {"trace-rate", kWarning, kNoTrace},
    {"trace-count", kWarning, kNoTrace},
    {"trace-log-frequency", kWarning, kNoTrace},
};

const TritonFlag& flag_of(std::string_view name) {
  return *std::ranges::find(kFlags, name, &TritonFlag::name);
}

// A switch that does not work: given without a value it means "true".
bool is_switch(const TritonFlag& flag) { return flag.harmless == "false"; }

std::string_view fate_name(FlagFate fate) {
  if (fate == kWorks) return "works";
  return fate == kWarning ? "warning" : "error";
}

}  // namespace

std::span<const TritonFlag> triton_flags() { return kFlags; }

void add_unused_triton_flags(CLI::App& app, GivenFlags& given) {
  for (const TritonFlag& flag : kFlags) {
    if (flag.fate == kWorks) continue;
    const std::string name(flag.name);
    auto* option = app.add_option_function<std::vector<std::string>>(
        "--" + name, [&given, name](const std::vector<std::string>& values) {
          for (const std::string& value : values) given.emplace_back(name, value);
        });
    option->expected(is_switch(flag) ? 0 : 1, 1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group("");  // not in --help
    if (is_switch(flag)) option->default_str("true");
  }
}

FlagVerdict judge(const GivenFlags& given) {
  FlagVerdict verdict;
  for (const auto& [name, value] : given) {
    const TritonFlag& flag = flag_of(name);
    if (!flag.harmless.empty() && value == flag.harmless) continue;
    auto& lines = flag.fate == kError ? verdict.errors : verdict.warnings;
    std::string line = fmt::format("--{}={} {}{}", name, log::printable(value),
                                   flag.fate == kError ? "" : "is ignored: it ", flag.sentence);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return verdict;
}

std::string triton_flags_as_markdown() {
  std::string text = "| flag | what becomes of it | why, and what to do |\n|---|---|---|\n";
  for (const TritonFlag& flag : kFlags) {
    const std::string harmless =
        flag.harmless.empty() ? "" : fmt::format(", but for `{}`", flag.harmless);
    text += fmt::format("| `--{}` | {}{} | {} |\n", flag.name, fate_name(flag.fate), harmless,
                        flag.sentence);
  }
  return text;
}

}  // namespace proa
