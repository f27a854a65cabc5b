#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tensor/buffer.h"

namespace proa {

// Where a server is.
struct ServerAddress {
  std::string host;
  std::string port;
  std::string prefix;  // of every path: "" or "/behind/a/proxy"

  // "http://127.0.0.1:8000", with brackets around the host where they are needed.
  std::string url() const;
  bool is_loopback() const;  // by its name: localhost, 127.*, ::1
};

// "http://host:port/prefix", "host:port", "[::1]:8000"; port 8000 when none is given.
// Errors: kInvalidArgument; kUnimplemented for https.
Result<ServerAddress> parse_server_url(std::string_view url);

struct HttpReply {
  int status = 0;
  std::size_t json_size = 0;  // Inference-Header-Content-Length; 0 = absent
  Buffer body;                // with MemoryPool::kTailPadding readable bytes behind it
  std::string_view text() const {
    return {reinterpret_cast<const char*>(body.data()), body.size()};
  }
};

// Sends requests to one server, one after the other, over one connection that is opened anew when
// the server has closed it.
// Threading: confined to one thread; methods block, at most for the time-out.
class HttpClient {
 public:
  HttpClient(ServerAddress server, std::chrono::milliseconds timeout);
  ~HttpClient();

  // Errors: kUnavailable when the server cannot be reached or breaks off, kDeadlineExceeded.
  Result<HttpReply> get(std::string_view path);
  // `json_size` > 0 is sent as Inference-Header-Content-Length.
  Result<HttpReply> post(std::string_view path, std::string body, std::size_t json_size);
  // Whether the last call failed because nobody listens there.
  bool refused() const { return refused_; }

 private:
  class Connection;
  Result<HttpReply> send(std::string_view method, std::string_view path, std::string body,
                         std::size_t json_size);

  const ServerAddress server_;
  const std::chrono::milliseconds timeout_;
  std::unique_ptr<Connection> connection_;
  bool refused_ = false;
};

}  // namespace proa
