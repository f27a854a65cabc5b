#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "fmt/core.h"

namespace proa::net {

// Connects a socket of a test's client to a port of 127.0.0.1, without Nagle's delay.
inline void connect_loopback(int fd, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int failed;
  do {  // a connect that a signal interrupts goes on
    failed = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  } while (failed != 0 && errno == EINTR);
  PROA_CHECK(failed == 0, fmt::format("a test's client must connect: {}", std::strerror(errno)));
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Bytes in which a lost, doubled or moved piece shows.
inline std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  return bytes;
}

}  // namespace proa::net
