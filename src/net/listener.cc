#include "net/listener.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/owned_fd.h"
#include "boost/asio/ip/address.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "net/acceptor.h"
#include "net/countdown.h"

namespace proa::net {
namespace {

using boost::asio::ip::tcp;

constexpr int kBacklog = 4096;

Error bind_error(const ListenerOptions& options, const tcp::endpoint& where, int error) {
  const std::string port =
      fmt::format("{} port {} on {}", options.name, where.port(), where.address().to_string());
  switch (error) {
    case EADDRINUSE:
      return error::unavailable(
          "{} is in use by another process; stop that one or choose another port with {} (0 takes "
          "any free one)",
          port, options.flag);
    case EACCES:
      return error::permission_denied(
          "{} may not be opened by this user; choose one of 1024 or more with {}", port,
          options.flag);
    case EADDRNOTAVAIL:
      return error::invalid_argument("{}: this machine has no such address", port);
    default:
      return error::unavailable("{} cannot be opened: {}", port, std::strerror(error));
  }
}

Result<tcp::endpoint> endpoint_of(const ListenerOptions& options) {
  boost::system::error_code failed;
  const std::string text = options.address == "localhost" ? "127.0.0.1" : options.address;
  const auto address = boost::asio::ip::make_address(text, failed);
  if (failed) {
    return error::invalid_argument(
        "{} address '{}' is not an IPv4 or IPv6 address (names other than localhost are not looked "
        "up)",
        options.name, options.address);
  }
  return tcp::endpoint(address, options.port);
}

// A bound socket. Without `shared`, it fails when anybody listens on the port, also those who
// would share it.
Result<OwnedFd> bind_socket(const ListenerOptions& options, const tcp::endpoint& where,
                            bool shared) {
  OwnedFd fd(::socket(where.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return bind_error(options, where, errno);
  const int on = 1, off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (shared) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (where.protocol() == tcp::v6()) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (::bind(fd.get(), where.data(), static_cast<socklen_t>(where.size())) != 0) {
    return bind_error(options, where, errno);
  }
  return fd;
}

Result<std::uint16_t> bound_port(int fd) {
  tcp::endpoint where;
  auto size = static_cast<socklen_t>(where.capacity());
  if (::getsockname(fd, where.data(), &size) != 0) {
    return error::internal("getsockname: {}", std::strerror(errno));
  }
  return where.port();
}

}  // namespace

Listener::Listener(ListenerOptions options) : options_(std::move(options)) {}
Listener::~Listener() = default;

Result<std::unique_ptr<Listener>> Listener::open(ListenerOptions options,
                                                 std::span<EventLoop* const> loops, Duration tick) {
  std::unique_ptr<Listener> listener(new Listener(std::move(options)));
  PROA_TRY(listener->bind_all(loops, tick));
  listener->on_each_loop([](Acceptor& acceptor) { acceptor.start(); });
  return listener;
}

Status Listener::bind_all(std::span<EventLoop* const> loops, Duration tick) {
  PROA_ASSIGN(tcp::endpoint where, endpoint_of(options_));
  // SO_REUSEPORT would let us share the port of another server of the same user: look first.
  if (where.port() != 0 && !options_.shared)
    PROA_TRY(bind_socket(options_, where, /*shared=*/false));
  for (EventLoop* loop : loops) {
    PROA_ASSIGN(OwnedFd fd, bind_socket(options_, where, /*shared=*/true));
    if (::listen(fd.get(), kBacklog) != 0) return bind_error(options_, where, errno);
    if (where.port() == 0) {
      PROA_ASSIGN(const std::uint16_t chosen, bound_port(fd.get()));
      where.port(chosen);
    }
    acceptors_.push_back(std::make_unique<Acceptor>(*loop, options_, open_connections_,
                                                    where.protocol(), fd.release(), tick));
  }
  port_ = where.port();
  return {};
}

void Listener::stop_accepting() {
  Countdown stopped(acceptors_.size());
  on_each_loop([&stopped](Acceptor& acceptor) {
    acceptor.stop_accepting();
    stopped.count_down();
  });
  stopped.wait();
}

void Listener::on_each_loop(const std::function<void(Acceptor&)>& task) {
  for (const auto& acceptor : acceptors_) {
    acceptor->loop().post([task, share = acceptor.get()] { task(*share); });
  }
}

}  // namespace proa::net
