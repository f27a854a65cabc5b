#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "net/exchange.h"

namespace proa::frontends {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kTextType = "text/plain; charset=utf-8";
inline constexpr std::string_view kBinaryType = "application/octet-stream";

// A whole HTTP answer.
struct RestReply {
  int status = 200;
  std::string_view content_type = kJsonType;
  std::string body;
  std::string allow = {};  // 405 only: the methods that the path knows
};

// {"error": message} with the status that stands for the error's code.
RestReply error_reply(const Error& error);
RestReply error_reply(int status, std::string_view message);

void send_reply(net::Exchange& exchange, RestReply reply);

}  // namespace proa::frontends
