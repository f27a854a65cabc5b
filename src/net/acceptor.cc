#include "net/acceptor.h"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "net/http1_response.h"

namespace proa::net {
namespace {

constexpr int kAcceptsPerEvent = 64;
constexpr std::string_view kHttp2PrefaceStart = "PRI * HTTP/2";
// Without descriptors or memory for a new connection: how long until the next try.
constexpr std::chrono::milliseconds kBackOff{100};

// A whole HTTP/2 conversation: SETTINGS, and a GOAWAY that says why.
// Source: RFC 9113, sections 4.1, 6.5 and 6.8.
void append_http2_goodbye(std::string& out, std::string_view why) {
  constexpr std::string_view kSettings("\0\0\0\x04\0\0\0\0\0", 9);
  constexpr std::string_view kGoaway("\x07\0\0\0\0\0", 6);
  constexpr std::string_view kNoStreamEnhanceYourCalm("\0\0\0\0\0\0\0\x0b", 8);
  const std::size_t length = kNoStreamEnhanceYourCalm.size() + why.size();
  out += kSettings;
  out += '\0';
  out += static_cast<char>(length >> 8);
  out += static_cast<char>(length & 0xff);
  out += kGoaway;
  out += kNoStreamEnhanceYourCalm;
  out += why;
}

}  // namespace

Acceptor::Acceptor(EventLoop& loop, const ListenerOptions& options, std::atomic<std::size_t>& open,
                   boost::asio::ip::tcp protocol, int fd, Duration tick)
    : loop_(loop),
      options_(options),
      open_(open),
      tick_(tick),
      coarse_now_(loop.now()),
      acceptor_(loop.io(), protocol, fd),
      protocol_(protocol),
      tick_timer_(loop.io()),
      back_off_timer_(loop.io()) {}

Acceptor::~Acceptor() {
  connections_.clear_and_dispose([](Connection* connection) { delete connection; });
}

void Acceptor::start() { wait_to_accept(); }

void Acceptor::stop_accepting() {
  if (!acceptor_.is_open()) return;
  while (accept_some()) {
  }
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  back_off_timer_.cancel();
}

void Acceptor::drain(std::move_only_function<void()> done) {
  stop_accepting();
  when_empty_ = std::move(done);
  for (Connection& connection : connections_) connection.start_drain();
  if (connections_.empty()) std::exchange(when_empty_, {})();
}

std::size_t Acceptor::close_all() {
  std::size_t count = 0;
  for (Connection& connection : connections_) {
    connection.close_soon(CloseReason::kServerAbort);
    ++count;
  }
  return count;
}

void Acceptor::remove(Connection& connection) {
  connections_.erase_and_dispose(connections_.iterator_to(connection),
                                 [](Connection* gone) { delete gone; });
  open_.fetch_sub(1, std::memory_order_relaxed);
  loop_.stats().connections_open.subtract(1);
  if (connections_.empty() && when_empty_) std::exchange(when_empty_, {})();
}

void Acceptor::wait_to_accept() {
  acceptor_.async_wait(boost::asio::socket_base::wait_read,
                       [this](const boost::system::error_code& failed) {
                         if (failed) return;
                         accept_some();
                       });
}

// Takes what waits; true when there may be more. Waits again unless told to back off.
bool Acceptor::accept_some() {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    const int fd = ::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &length,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      adopt(fd, peer);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      back_off(errno);
    } else {
      wait_to_accept();
    }
    return false;
  }
  wait_to_accept();
  return true;
}

void Acceptor::adopt(int fd, const sockaddr_storage& peer) {
  LoopStats& stats = loop_.stats();
  if (open_.fetch_add(1, std::memory_order_relaxed) >= options_.limits.max_connections) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    stats.connections_refused.add(1);
    return refuse(fd);
  }
  Socket socket(loop_.io());
  if (!socket.open(protocol_, fd)) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    stats.accept_errors.add(1);
    ::close(fd);
    return;
  }
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!ticking_) {
    coarse_now_ = loop_.now();
    schedule_tick();
  }
  auto* connection = new Connection(*this, std::move(socket), peer);
  connections_.push_back(*connection);
  connection->start();
  stats.connections_accepted.add(1);
  stats.connections_open.add(1);
}

// An answer of one try, as a hint for people, in the protocol that the client speaks.
void Acceptor::refuse(int fd) {
  char first[4096];
  const ssize_t size = ::recv(fd, first, sizeof first, MSG_DONTWAIT);
  const bool http2 =
      size > 0
          ? std::string_view(first, static_cast<std::size_t>(size)).starts_with(kHttp2PrefaceStart)
          : options_.expects_http2;
  const std::string why = "too many connections to the " + options_.name + " port: its limit is " +
                          std::to_string(options_.limits.max_connections) +
                          "; close some or try later";
  std::string answer;
  if (http2) {
    append_http2_goodbye(answer, why);
  } else {
    append_error_response(answer, 503, why);
  }
  (void)::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(fd);
}

void Acceptor::back_off(int error) {
  loop_.stats().accept_errors.add(1);
  log::warn("{} port: cannot accept a connection: {}; trying again in {} ms", options_.name,
            std::strerror(error), kBackOff.count());
  back_off_timer_.expires_after(kBackOff);
  back_off_timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed && acceptor_.is_open()) accept_some();
  });
}

void Acceptor::schedule_tick() {
  ticking_ = true;
  tick_timer_.expires_after(tick_);
  tick_timer_.async_wait([this](const boost::system::error_code& failed) {
    if (!failed) on_tick();
  });
}

void Acceptor::on_tick() {
  coarse_now_ = loop_.now();
  for (Connection& connection : connections_) connection.on_tick(coarse_now_);
  ticking_ = false;
  if (!connections_.empty()) schedule_tick();
}

}  // namespace proa::net
