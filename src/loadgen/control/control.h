#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/clients/address.h"
#include "loadgen/control/server_json.h"
#include "loadgen/payloads.h"
#include "loadgen/run/server_statistics.h"

namespace proa::loadgen {

// The questions that a server is asked before and between loads.
enum class Question : std::uint8_t {
  kServerMetadata,
  kModelMetadata,
  kModelConfig,
  kModelStatistics,
};

// Asks a server, by HTTP or gRPC; answers are JSON either way (server_json.h).
// Threading: confined to one thread; ask() blocks.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  // `model` and `version` where the question is about a model.
  // Errors: the server's; kUnimplemented where it does not know the question; kUnavailable when it
  // cannot be reached; kDeadlineExceeded when it does not answer.
  virtual Result<std::string> ask(Question question, std::string_view model,
                                  std::string_view version) = 0;
};

inline constexpr std::chrono::seconds kControlTimeout{10};

// `address` must outlive the channel. `headers` go with every question. Errors: of the event loop.
Result<std::unique_ptr<ControlChannel>> make_http_control(const Address& address,
                                                          std::vector<std::string> headers);
Result<std::unique_ptr<ControlChannel>> make_grpc_control(const Address& address,
                                                          std::vector<std::string> metadata);

// A model as its server describes it.
struct ModelDescription {
  ModelSignature signature;
  std::vector<std::string> composing;  // of ensembles, also of those within
};

// Errors: the server's, naming the model.
Result<ModelDescription> describe_model(ControlChannel& control, const std::string& name,
                                        const std::string& version);

// A page of metrics: `url` without scheme is that of a host; the path defaults to /metrics.
// Errors: as HTTP's.
Result<std::string> fetch_metrics(const Address& address);

// The counters of `models` (name, version) and their composing models; with `metrics_address` not
// null, those of that page as well. All must outlive the source.
std::unique_ptr<StatisticsSource> make_statistics_source(
    ControlChannel& control, const std::vector<ModelDescription>& models,
    const Address* metrics_address);

}  // namespace proa::loadgen
