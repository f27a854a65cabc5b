#include "net/socket.h"

#include <cerrno>

namespace proa::net {
namespace {

IoResult result_of(ssize_t count) {
  if (count >= 0) return {IoStatus::kOk, static_cast<std::size_t>(count)};
  if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoStatus::kWouldBlock, 0};
  return {IoStatus::kClosed, 0};
}

}  // namespace

bool Socket::open(boost::asio::ip::tcp protocol, int fd) {
  boost::system::error_code failed;
  socket_.assign(protocol, fd, failed);
  if (failed) return false;
  fd_ = fd;
  return true;
}

IoResult Socket::read(std::span<std::byte> into) {
  ssize_t count;
  do {
    count = ::recv(fd_, into.data(), into.size(), MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count == 0) return {IoStatus::kClosed, 0};
  return result_of(count);
}

IoResult Socket::write(std::span<const iovec> from) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(from.data());
  message.msg_iovlen = from.size();
  ssize_t count;
  do {
    count = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  return result_of(count);
}

void Socket::shut_down_write() { ::shutdown(fd_, SHUT_WR); }

void Socket::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace proa::net
