#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace proa::loadgen {

// Somebody on a loopback port who does on each connection, one after the other, what its script
// says, then closes it. The port is closed after the last one.
class ScriptedPeer {
 public:
  using Script = std::function<void(int connection)>;

  explicit ScriptedPeer(std::vector<Script> scripts)
      : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    auto* name = reinterpret_cast<sockaddr*>(&address);
    ::bind(listener_, name, size);
    ::listen(listener_, 16);
    ::getsockname(listener_, name, &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, scripts = std::move(scripts)] {
      for (const Script& script : scripts) {
        const int connection = ::accept(listener_, nullptr, nullptr);
        if (connection < 0) break;
        script(connection);
        ::close(connection);
      }
      ::close(listener_);
    });
  }
  ~ScriptedPeer() {
    ::shutdown(listener_, SHUT_RDWR);  // ends a wait for a connection that never comes
    thread_.join();
  }

  std::string url() const { return "127.0.0.1:" + std::to_string(port_); }

  // Reads one request with a Content-Length (or the end); answers with these bytes.
  static void answer(int connection, std::string_view bytes) {
    std::string request;
    std::array<char, 4096> buffer;
    while (!is_whole(request)) {
      const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      request.append(buffer.data(), static_cast<std::size_t>(got));
    }
    ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  static bool is_whole(std::string_view request) {
    constexpr std::string_view kLength = "Content-Length: ";
    const auto end = request.find("\r\n\r\n");
    const auto length = request.find(kLength);
    if (end == std::string_view::npos || length == std::string_view::npos) return false;
    const auto size = std::stoul(std::string(request.substr(length + kLength.size(), 12)));
    return request.size() >= end + 4 + size;
  }

  const int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace proa::loadgen
