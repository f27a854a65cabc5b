#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/timer.h"
#include "core/memory_budget.h"
#include "frontends/header_forward.h"
#include "tensor/buffer.h"

namespace proa::lifecycle {
class ModelRepository;
}

namespace proa::frontends {

// Command-line flags that messages point to.
inline constexpr std::string_view kHttpMaxInputFlag = "--http-max-input-size";
inline constexpr std::string_view kGrpcMaxMessageFlag = "--grpc-max-message-size";
inline constexpr std::string_view kMemoryBudgetFlag = "--max-in-flight-bytes";

// What a listener answers. gRPC and REST share ports freely; any other request is a 404.
struct Services {
  bool rest = false;     // /v2...
  bool grpc = false;     // inference.GRPCInferenceService, grpc.health.v1, reflection
  bool metrics = false;  // /metrics
};

// How strong the answers of gRPC calls are compressed, for clients that accept gzip or deflate.
enum class CompressionLevel : std::uint8_t { kNone, kLow, kMedium, kHigh };

// Limits of the front ends; sizes in bytes.
struct ServerOptions {
  std::size_t http_max_input_bytes = std::size_t{64} << 20;  // a body, before and after inflating
  std::size_t grpc_max_message_bytes = 2'147'483'647;        // the same for a gRPC message
  CompressionLevel grpc_response_compression = CompressionLevel::kNone;

  // Headers that become parameters of inference requests.
  HeaderForward http_header_forward;
  HeaderForward grpc_header_forward;

  // One ModelStreamInfer: requests in flight, their bytes, and bytes of answers the client has not
  // taken, beyond which the server starts and reads no further request.
  std::size_t stream_max_requests = 256;
  std::size_t stream_max_request_bytes = std::size_t{64} << 20;
  std::size_t stream_max_unsent_bytes = std::size_t{4} << 20;

  // How often grpc.health.v1 Watch looks for a change.
  std::chrono::milliseconds health_watch_interval{500};

  // Text of /metrics in Prometheus' format; null = 404. Called on loop threads.
  std::function<std::string()> metrics;
};

// What the front ends work with. The pointers outlive the listeners and every request.
// Threading: immutable.
struct FrontendContext {
  lifecycle::ModelRepository* repository = nullptr;
  core::MemoryBudget* budget = nullptr;
  MemoryPool* memory = nullptr;
  const Clock* clock = nullptr;
  Timer* timer = nullptr;
  std::string server_name = "proa";
  std::string server_version;
  ServerOptions options;
};

// kUnavailable: `bytes` for one message do not fit the server's budget now.
Error over_budget(const core::MemoryBudget& budget, std::size_t bytes);

// The share of the budget that an answer of `bytes` takes until the client has it. Small answers
// are counted in any case, so that a busy server still says how it is.
// Errors: kUnavailable, as over_budget().
Result<core::MemoryBudget::Reservation> reserve_answer(core::MemoryBudget& budget,
                                                       std::size_t bytes);

}  // namespace proa::frontends
