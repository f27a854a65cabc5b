#include "http1_session.h"

#include "base/text.h"
#include "fmt/format.h"
#include "kserve.h"

namespace proa::scripted {
namespace {

// The body's length that the header announces; 0 without one.
std::size_t content_length(std::string_view header) {
  for (const std::string_view line : split_lines(header)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (lower_case(line.substr(0, colon)) != "content-length") continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return parse_number<std::size_t>(value).value_or(0);
  }
  return 0;
}

}  // namespace

bool Http1Session::read(std::string_view bytes) {
  buffer_ += bytes;
  while (take_request()) {
  }
  return buffer_.size() < (std::size_t{64} << 20);
}

bool Http1Session::take_request() {
  const std::size_t end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string_view header(buffer_.data(), end);
  const std::size_t whole = end + 4 + content_length(header);
  if (buffer_.size() < whole) return false;
  const std::size_t from = header.find(' ') + 1;
  const std::string path(header.substr(from, header.find(' ', from) - from));
  buffer_.erase(0, whole);
  if (path == kInferPath) {
    host_.inference_came(0);
  } else if (const auto body = http_answer(path)) {
    respond(200, *body);
  } else {
    respond(404, R"({"error":"the scripted server does not have this path"})");
  }
  return true;
}

void Http1Session::answer(std::uint32_t, bool fail) {
  if (fail) {
    respond(503, R"({"error":"scripted failure"})");
  } else {
    respond(200, http_inference());
  }
}

void Http1Session::respond(int status, std::string_view body) {
  out += fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
      status == 200 ? "OK" : "Error", body.size(), body);
}

}  // namespace proa::scripted
