#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "net/exchange.h"

namespace proa::net {

// Response heads and refusals of HTTP/1.1 as text. Threading: pure functions.

// Why a request is not served: an HTTP status and a sentence for the client.
struct Refusal {
  int status;
  std::string why;
};

// How the end of a body is told.
struct Framing {
  bool has_length = false;
  std::size_t length = 0;
  bool chunked = false;
  bool keep_alive = true;
  bool say_keep_alive = false;  // HTTP/1.0 clients want to hear it
  std::string_view date = {};   // for the Date header; empty = none
};

// Status line and headers, to the empty line.
void append_response_head(std::string& out, int status, std::span<const Header> headers,
                          const Framing& framing);

// {"error": "..."}
std::string json_error(std::string_view why);

// A whole response with a JSON error as its body, after which the connection closes.
void append_error_response(std::string& out, int status, std::string_view why);

// "Not Found"; "Unknown" for codes nobody uses.
std::string_view reason_phrase(int status);

// True for statuses whose responses never have a body. Source: RFC 9110, section 6.4.1.
bool bodiless(int status);

}  // namespace proa::net
