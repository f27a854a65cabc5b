#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace proa::frontends {

// The value of a grpc-timeout header ("20m" = 20 milliseconds): 1 to 8 digits and one of H M S m u
// n. Nothing when malformed. Source: gRPC over HTTP/2, "Timeout".
std::optional<Duration> parse_grpc_timeout(std::string_view value);

// `text` as a grpc-message header: what is not printable ASCII, and '%', as %XX.
// Source: gRPC over HTTP/2, "Status-Message".
std::string encode_grpc_message(std::string_view text);

// True for application/grpc, application/grpc+proto and either with ";parameters".
bool is_grpc_content_type(std::string_view value);

}  // namespace proa::frontends
