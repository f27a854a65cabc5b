#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace proa::protocol {

// The HTTP status of a failure: Triton's, and for codes that Triton lacks the nearest.
int http_status(ErrorCode code);

// The number in grpc-status.
inline int grpc_status(ErrorCode code) { return static_cast<int>(code); }

// {"error":"message"}
std::string json_error_body(std::string_view message);

}  // namespace proa::protocol
