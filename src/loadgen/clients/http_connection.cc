#include "loadgen/clients/http_connection.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/stamped_receive.h"
#include "fmt/format.h"

namespace proa::loadgen {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;

// How long a server's close takes to get here, and a request there, at most.
constexpr Duration kCrossing = std::chrono::milliseconds(100);

TimePoint now() { return steady_clock().now(); }

}  // namespace

HttpConnection::~HttpConnection() { close(); }

void HttpConnection::close() {
  if (fd_ >= 0) {
    loop_.forget(fd_, *this);
    ::close(fd_);
  }
  fd_ = -1;
  state_ = State::kClosed;
  busy_ = served_ = waits_to_write_ = false;
}

void HttpConnection::connect() {
  if (state_ != State::kClosed) return;
  Result<int> fd = start_connecting(address_);
  if (!fd) {
    fail({"connection failed", fd.error().message}, true);
    return;
  }
  fd_ = *fd;
  state_ = State::kConnecting;
  waits_to_write_ = true;
  loop_.watch(fd_, EPOLLOUT, *this);
}

void HttpConnection::send(std::string_view bytes, HttpResponseReader::Keep keep) {
  request_ = bytes;
  written_ = 0;
  keep_ = keep;
  busy_ = true;
  times_ = {};
  times_.sent = times_.sent_all = now();
  reply_.start(keep);
  if (state_ == State::kConnected) {
    write_some();
  } else {
    connect();
  }
}

void HttpConnection::on_ready(std::uint32_t events) {
  if (state_ == State::kConnecting) {
    finish_connecting();
    return;
  }
  if ((events & EPOLLOUT) != 0 && busy_) write_some();
  if (state_ == State::kConnected && (events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
    read_some();
  }
}

void HttpConnection::finish_connecting() {
  if (const int failure = connect_result(fd_); failure != 0) {
    const std::string name = connect_failure_name(failure);
    fail({name, fmt::format("{} at {}", name, address_.authority)}, true);
    return;
  }
  state_ = State::kConnected;
  waits_to_write_ = false;
  loop_.change(fd_, EPOLLIN | EPOLLRDHUP, *this);
  owner_.connected(*this);
  if (busy_) write_some();
}

void HttpConnection::write_some() {
  while (written_ < request_.size()) {
    const ssize_t sent = ::send(fd_, request_.data() + written_, request_.size() - written_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      written_ += static_cast<std::size_t>(sent);
      times_.bytes_sent += static_cast<std::uint64_t>(sent);
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      if (!std::exchange(waits_to_write_, true)) {
        loop_.change(fd_, EPOLLIN | EPOLLRDHUP | EPOLLOUT, *this);
      }
      return;
    }
    broken(errno);
    return;
  }
  times_.sent_all = now();
  if (std::exchange(waits_to_write_, false)) loop_.change(fd_, EPOLLIN | EPOLLRDHUP, *this);
}

void HttpConnection::read_some() {
  static thread_local std::array<std::byte, kReadBytes> buffer;
  while (state_ == State::kConnected) {
    const auto [got, arrived] = receive_stamped(fd_, buffer);
    if (got > 0) {
      const auto size = static_cast<std::size_t>(got);
      take_bytes({reinterpret_cast<const char*>(buffer.data()), size}, arrived);
      if (size < buffer.size()) return;  // as a rule there is no more
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    broken(got == 0 ? 0 : errno);
    return;
  }
}

void HttpConnection::take_bytes(std::string_view bytes, TimePoint arrived) {
  if (!busy_) {
    fail({"nonsense", "the server sends without being asked"});
    return;
  }
  times_.last_byte = arrived;
  if (!reply_.begun()) {
    times_.first_byte = arrived;
    // The answer may be there before this thread has come back from sending.
    times_.sent_all = std::min(times_.sent_all, arrived);
  }
  times_.bytes_received += bytes.size();
  const Result<bool> done = reply_.feed(bytes);
  if (!done) {
    fail({"nonsense", done.error().message});
  } else if (*done) {
    complete();
  }
}

void HttpConnection::complete() {
  // An answer to a half-sent request: nobody reads the rest.
  const bool reusable = reply_.keep_alive() && written_ == request_.size();
  busy_ = false;
  if (reusable) {
    served_ = true;
  } else {
    close();
  }
  owner_.replied(*this);
}

// The other side has closed (0), or the connection has an error.
void HttpConnection::broken(int error_number) {
  if (!busy_) {  // idle connections may end
    close();
    return;
  }
  if (error_number == 0 && reply_.end_of_stream()) {
    complete();
    return;
  }
  // The server closed while it was idle, and has not seen the request: once more, on a new
  // connection. Later it may have seen it.
  const bool stale = served_ && !reply_.begun() && now() - times_.sent < kCrossing;
  if (stale) {
    const Times times = times_;
    close();
    busy_ = true;
    written_ = 0;
    times_.sent = times.sent;
    connect();
    return;
  }
  const std::string name =
      error_number == 0 ? "connection closed" : connect_failure_name(error_number);
  fail({name, fmt::format("the server at {} ended the connection {} the answer", address_.authority,
                          reply_.begun() ? "within" : "before")});
}

void HttpConnection::fail(Failure failure, bool while_connecting) {
  close();
  owner_.failed(*this, std::move(failure), while_connecting);
}

}  // namespace proa::loadgen
