#include "protocol/status_map.h"

#include <array>
#include <utility>

#include "proto/json_text.h"

namespace proa::protocol {
namespace {

// Triton answers 400 to what it cannot name better.
constexpr auto kHttpStatuses = std::to_array<std::pair<ErrorCode, int>>({
    {ErrorCode::kCancelled, 400},
    {ErrorCode::kUnknown, 400},
    {ErrorCode::kInvalidArgument, 400},
    {ErrorCode::kDeadlineExceeded, 504},
    {ErrorCode::kNotFound, 404},
    {ErrorCode::kAlreadyExists, 400},
    {ErrorCode::kPermissionDenied, 403},
    {ErrorCode::kResourceExhausted, 429},
    {ErrorCode::kFailedPrecondition, 400},
    {ErrorCode::kUnimplemented, 501},
    {ErrorCode::kInternal, 500},
    {ErrorCode::kUnavailable, 503},
});

}  // namespace

int http_status(ErrorCode code) {
  for (const auto& [known, status] : kHttpStatuses) {
    if (known == code) return status;
  }
  return 500;
}

std::string client_message(std::string_view message) {
  if (message.size() <= kMaxMessageBytes) return std::string(message);
  constexpr std::string_view kMark = " [shortened]";
  std::size_t end = kMaxMessageBytes - kMark.size();
  const auto inside_character = [&] { return (message[end] & 0xC0) == 0x80; };
  for (int step = 0; step < 3 && inside_character(); ++step) --end;
  return std::string(message.substr(0, end)).append(kMark);
}

std::string json_error_body(std::string_view message) {
  std::string body = R"({"error":)";
  proto::append_json_string(body, client_message(message));
  body += '}';
  return body;
}

}  // namespace proa::protocol
