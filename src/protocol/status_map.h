#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace proa::protocol {

// The HTTP status of a failure: Triton's, and for codes that Triton lacks the nearest.
int http_status(ErrorCode code);

// The number in grpc-status.
inline int grpc_status(ErrorCode code) { return static_cast<int>(code); }

// What a client is shown of an error's message: names in it may come from the wire and be megabytes
// long. At most kMaxMessageBytes, cut between two characters of UTF-8; percent-encoded that still
// fits the 8 KiB of metadata that gRPC clients accept.
inline constexpr std::size_t kMaxMessageBytes = 2048;
std::string client_message(std::string_view message);

// {"error":"message"}, with the client's message.
std::string json_error_body(std::string_view message);

}  // namespace proa::protocol
