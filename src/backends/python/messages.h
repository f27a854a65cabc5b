#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/python/lending.h"
#include "config/model_config.h"
#include "core/request.h"

namespace proa::backends::python {

// The bodies of kExecute and kResponses. "items" of their heads count requests and responses.
//
//   kExecute    batch:u64 flags:u32 0:u32, then each request:
//   request     number:u64 correlation:u64 timeout_us:u64 flags:u32 slot:u32 id bytes:u32
//               correlation bytes:u32 inputs:u16 requested outputs:u16 priority:u32,
//               id, correlation id (when it is text), parameters (with kHasParameters),
//               requested outputs x u16 (none = all), zeros up to a multiple of 8, inputs x tensor
//   kResponses  responses, each:
//   response    number:u64 flags:u32 code:u32 outputs:u32 0:u32, error:string (with kHasError),
//               parameters (with kHasParameters), zeros up to a multiple of 8, outputs x tensor
enum RequestFlags : std::uint32_t {
  kSequenceStart = 1,
  kSequenceEnd = 2,
  kCorrelationText = 4,
  kHasParameters = 8,
};
enum ResponseFlags : std::uint32_t { kFinal = 1, kHasError = 2, kNoContent = 4 };
// kExecute: the worker holds so much shared memory that it is to copy and give back at once.
inline constexpr std::uint32_t kCopyInputs = 1;

// Appends one request. Errors: kResourceExhausted.
Status put_request(const core::Request& request, std::uint64_t number, std::uint32_t slot,
                   Draft& draft, Lending& lending);

// One response as it came, checked against the model's configuration: what does not fit is an error
// in its place.
struct WorkerResponse {
  std::uint64_t number = 0;
  bool final = false;
  // Nothing when it only ends the request.
  std::optional<core::Response> content;
};

// The next response of the message. Errors: kInternal for what a worker must not send.
Result<WorkerResponse> read_response(const config::ModelConfig& config, Incoming& message);

// The code of ours for a TritonError's (TRITONSERVER_Error_Code), and back.
ErrorCode error_code(std::uint32_t triton);
std::uint32_t triton_code(ErrorCode code);

}  // namespace proa::backends::python
