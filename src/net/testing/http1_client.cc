#include "net/testing/http1_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "fmt/core.h"
#include "net/testing/loopback.h"

namespace proa::net {

Http1Client::Http1Client(std::uint16_t port, Connect when)
    : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (when == Connect::kNow) connect(port);
}

void Http1Client::connect(std::uint16_t port) { connect_loopback(fd_, port); }

Http1Client::~Http1Client() { close(); }

void Http1Client::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void Http1Client::shut_down_write() { ::shutdown(fd_, SHUT_WR); }

bool Http1Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Http1Client::fill() {
  char bytes[65536];
  ssize_t got;
  do {
    got = ::recv(fd_, bytes, sizeof bytes, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    ended_ = got == 0 || errno == ECONNRESET;
    return false;
  }
  buffer_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

bool Http1Client::fill_to(std::size_t size) {
  while (buffer_.size() < size) {
    if (!fill()) return false;
  }
  return true;
}

std::string Http1Client::take(std::size_t size) {
  fill_to(size);
  const std::string taken = buffer_.substr(0, size);
  buffer_.erase(0, taken.size());
  return taken;
}

std::string Http1Client::take_line() {
  std::size_t end;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (!fill()) return {};
  }
  const std::string line = take(end);
  take(2);
  return line;
}

Http1Response Http1Client::read_response(bool head_only) {
  Http1Response response;
  const std::string status_line = take_line();
  if (!status_line.starts_with("HTTP/1.1 ")) return response;
  const int status = std::atoi(status_line.c_str() + 9);
  for (std::string line = take_line(); !line.empty(); line = take_line()) {
    const std::size_t colon = line.find(": ");
    std::string name = line.substr(0, colon);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    response.headers[name] = line.substr(colon + 2);
  }
  if (!head_only) {
    if (const auto length = response.headers.find("content-length");
        length != response.headers.end()) {
      const std::size_t size = std::strtoull(length->second.c_str(), nullptr, 10);
      response.body = take(size);
      if (response.body.size() != size) return response;
    } else if (response.headers.contains("transfer-encoding")) {
      read_chunks(response);
    } else {
      response.body = read_to_end();
    }
  }
  response.status = status;
  return response;
}

void Http1Client::read_chunks(Http1Response& response) {
  for (;;) {
    const std::size_t size = std::strtoull(take_line().c_str(), nullptr, 16);
    response.body += take(size);
    take(2);
    if (size == 0) return;
  }
}

Http1Response Http1Client::get(std::string_view target) {
  send(http1_request("GET", target));
  return read_response();
}

Http1Response Http1Client::post(std::string_view target, std::string_view body) {
  send(http1_request("POST", target, body));
  return read_response();
}

std::string Http1Client::read_to_end() {
  while (fill()) {
  }
  std::string rest;
  std::swap(rest, buffer_);
  return rest;
}

std::string http1_request(std::string_view method, std::string_view target, std::string_view body,
                          std::string_view more_headers) {
  const std::string length =
      body.empty() ? std::string() : fmt::format("Content-Length: {}\r\n", body.size());
  return fmt::format("{} {} HTTP/1.1\r\nHost: test\r\n{}{}\r\n{}", method, target, length,
                     more_headers, body);
}

}  // namespace proa::net
