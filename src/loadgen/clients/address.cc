#include "loadgen/clients/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/stamped_receive.h"
#include "base/text.h"
#include "fmt/format.h"

namespace proa::loadgen {
namespace {

struct Parts {
  std::string host, port, prefix;
};

Result<Parts> split_url(std::string_view url, std::string_view default_port) {
  std::string_view rest = url;
  for (const std::string_view scheme : {"https://", "grpcs://"}) {
    if (rest.starts_with(scheme)) {
      return error::unimplemented("{}: TLS is not supported; put a proxy in front that speaks it",
                                  url);
    }
  }
  for (const std::string_view scheme : {"http://", "grpc://"}) {
    if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  }
  Parts parts{.port = std::string(default_port)};
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    parts.prefix = rest.substr(slash);
    rest = rest.substr(0, slash);
    while (parts.prefix.ends_with('/')) parts.prefix.pop_back();
  }
  const bool bracket = rest.starts_with('[');
  const auto host_end = bracket ? rest.find(']') : rest.rfind(':');
  if (bracket && host_end == std::string_view::npos) {
    return error::invalid_argument("'{}' is no address: a ']' is missing", url);
  }
  parts.host = bracket ? rest.substr(1, host_end - 1) : rest.substr(0, host_end);
  if (host_end != std::string_view::npos) {
    const std::string_view port = rest.substr(host_end + (bracket ? 1 : 0));
    if (!port.empty()) parts.port = port.substr(1);
  }
  const auto number = parse_number<int>(parts.port);
  if (parts.host.empty() || !number || *number < 1 || *number > 65535) {
    return error::invalid_argument("'{}' is no address; wanted host:port, like localhost:{}", url,
                                   default_port);
  }
  return parts;
}

}  // namespace

Result<Address> resolve(std::string_view url, std::string_view default_port) {
  PROA_ASSIGN(const Parts parts, split_url(url, default_port));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(parts.host.c_str(), parts.port.c_str(), &hints, &found);
  if (failure != 0) {
    return error::unavailable("nobody knows the host '{}': {}", parts.host,
                              ::gai_strerror(failure));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, ::freeaddrinfo);
  // Servers that listen on IPv4 alone are the rule: prefer it for names that have both.
  const addrinfo* best = list.get();
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    if (each->ai_family == AF_INET) {
      best = each;
      break;
    }
  }
  Address address;
  const bool colons = parts.host.contains(':');
  address.authority =
      fmt::format("{}{}{}:{}", colons ? "[" : "", parts.host, colons ? "]" : "", parts.port);
  address.prefix = parts.prefix;
  address.socket_size = best->ai_addrlen;
  std::memcpy(&address.socket, best->ai_addr, best->ai_addrlen);
  return address;
}

Result<int> start_connecting(const Address& address) {
  const int fd = ::socket(address.socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return error::unavailable("no further socket: {}; `ulimit -n` says how many there may be",
                              std::strerror(errno));
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  stamp_arrivals(fd);
  const auto* to = reinterpret_cast<const sockaddr*>(&address.socket);
  if (::connect(fd, to, address.socket_size) != 0 && errno != EINPROGRESS) {
    const int reason = errno;
    ::close(fd);
    return error::unavailable("{} at {}", connect_failure_name(reason), address.authority);
  }
  return fd;
}

int connect_result(int fd) {
  int failure = 0;
  socklen_t size = sizeof failure;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 ? failure : errno;
}

std::string connect_failure_name(int error_number) {
  switch (error_number) {
    case ECONNREFUSED:
      return "connection refused";
    case ECONNRESET:
    case EPIPE:
      return "connection reset";
    case ETIMEDOUT:
      return "connecting timed out";
    default:
      return lower_case(std::strerror(error_number));
  }
}

}  // namespace proa::loadgen
