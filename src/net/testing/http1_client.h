#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace proa::net {

struct Http1Response {
  int status = 0;                              // 0: the connection ended before a whole response
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// A blocking HTTP/1.1 client that sends exactly what it is told. Every wait ends after ten seconds
// as if the server had closed.
class Http1Client {
 public:
  enum class Connect { kNow, kLater };
  explicit Http1Client(std::uint16_t port, Connect when = Connect::kNow);
  ~Http1Client();
  Http1Client(const Http1Client&) = delete;

  // For Connect::kLater.
  void connect(std::uint16_t port);
  // False when the server does not take it.
  bool send(std::string_view bytes);
  // The next response; `head_only` for answers to HEAD and 100 Continue.
  Http1Response read_response(bool head_only = false);
  Http1Response get(std::string_view target);
  Http1Response post(std::string_view target, std::string_view body);

  // All bytes up to the server's end of the connection.
  std::string read_to_end();
  // True when the server has closed and nothing is left to read.
  bool closed_by_server() { return read_to_end().empty() && ended_; }
  void shut_down_write();
  void close();
  int fd() const { return fd_; }

 private:
  bool fill();
  bool fill_to(std::size_t size);
  void read_chunks(Http1Response& response);
  std::string take(std::size_t size);
  std::string take_line();

  int fd_;
  bool ended_ = false;
  std::string buffer_;
};

// A request with a Host header and, if `body` is not empty, its length.
std::string http1_request(std::string_view method, std::string_view target,
                          std::string_view body = {}, std::string_view more_headers = {});

}  // namespace proa::net
