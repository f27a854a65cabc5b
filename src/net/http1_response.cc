#include "net/http1_response.h"

#include <charconv>

#include "fmt/core.h"
#include "net/http_date.h"

namespace proa::net {
namespace {

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end);
}

}  // namespace

// Source: RFC 9110, section 15.
std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Client Closed Request";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

bool bodiless(int status) { return status < 200 || status == 204 || status == 304; }

void append_response_head(std::string& out, int status, std::span<const Header> headers,
                          const Framing& framing) {
  if (status == 200) {
    out += "HTTP/1.1 200 OK\r\n";
  } else {
    out += "HTTP/1.1 ";
    append_number(out, static_cast<std::size_t>(status));
    out += ' ';
    out += reason_phrase(status);
    out += "\r\n";
  }
  for (const Header& header : headers) {
    out += header.name;
    out += ": ";
    out += header.value;
    out += "\r\n";
  }
  if (!framing.date.empty()) {
    out += "date: ";
    out += framing.date;
    out += "\r\n";
  }
  if (framing.has_length) {
    out += "content-length: ";
    append_number(out, framing.length);
    out += "\r\n";
  }
  if (framing.chunked) out += "transfer-encoding: chunked\r\n";
  if (!framing.keep_alive) out += "connection: close\r\n";
  if (framing.keep_alive && framing.say_keep_alive) out += "connection: keep-alive\r\n";
  out += "\r\n";
}

std::string json_error(std::string_view why) {
  std::string out = "{\"error\":\"";
  for (const char c : why) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += "\"}";
  return out;
}

void append_error_response(std::string& out, int status, std::string_view why) {
  const std::string body = json_error(why);
  const Header headers[] = {{"content-type", "application/json"}};
  append_response_head(
      out, status, headers,
      {.has_length = true, .length = body.size(), .keep_alive = false, .date = http_date_now()});
  out += body;
}

}  // namespace proa::net
