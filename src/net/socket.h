#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"

namespace proa::net {

enum class IoStatus : std::uint8_t {
  kOk,
  kWouldBlock,
  kClosed,  // by the other side, or broken
};

struct IoResult {
  IoStatus status = IoStatus::kOk;
  std::size_t bytes = 0;
};

// A connected TCP socket: reads and writes that never block, and waits for readiness. All bytes of
// a connection pass here, so TLS goes here too: read() and write() over an SSL object with this
// descriptor, and the protocol from its ALPN answer in place of Connection's look at the first
// bytes.
// Threading: confined to its loop's thread.
class Socket {
 public:
  explicit Socket(boost::asio::io_context& io) : socket_(io) {}

  // Takes over `fd`, a non-blocking TCP socket; on failure it stays the caller's.
  bool open(boost::asio::ip::tcp protocol, int fd);

  IoResult read(std::span<std::byte> into);
  IoResult write(std::span<const iovec> from);

  // Call `done()` once when the socket can be read or written, or has been closed.
  template <class Done>
  void wait_readable(Done done) {
    socket_.async_wait(boost::asio::socket_base::wait_read,
                       [done = std::move(done)](const boost::system::error_code&) { done(); });
  }
  template <class Done>
  void wait_writable(Done done) {
    socket_.async_wait(boost::asio::socket_base::wait_write,
                       [done = std::move(done)](const boost::system::error_code&) { done(); });
  }

  // Tells the other side that nothing more will come, and goes on reading.
  void shut_down_write();
  // Waits end at once.
  void close();

 private:
  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      socket_;
  int fd_ = -1;
};

}  // namespace proa::net
