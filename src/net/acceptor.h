#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/intrusive/list.hpp"
#include "net/connection.h"
#include "net/listener.h"

namespace proa::net {

// One listener's share of one loop: accepts connections and owns them.
// Life: made before its loop runs or by a task of it; destroyed once the loop has stopped, before
// the loop is destroyed.
// Threading: confined to its loop's thread, construction and destruction apart.
class Acceptor final : public ConnectionHost {
 public:
  // Takes over `fd`, a listening non-blocking socket. `options` and `open_connections` (of the
  // whole listener) outlive the acceptor.
  Acceptor(EventLoop& loop, const ListenerOptions& options, std::atomic<std::size_t>& open,
           boost::asio::ip::tcp protocol, int fd, Duration tick);
  ~Acceptor();

  void start();
  // Takes what the kernel has accepted already, and closes the port.
  void stop_accepting();
  // Stops accepting and lets what is under way end; calls `done` once no connection is left.
  void drain(std::move_only_function<void()> done);
  // Cuts all connections; returns how many there were.
  std::size_t close_all();

  EventLoop& loop() override { return loop_; }
  const Limits& limits() const override { return options_.limits; }
  const HandlerFactory& factory() const override { return options_.factory; }
  TimePoint coarse_now() const override { return coarse_now_; }
  Duration tick() const override { return tick_; }
  void remove(Connection& connection) override;

 private:
  void wait_to_accept();
  bool accept_some();
  void adopt(int fd, const sockaddr_storage& peer);
  void refuse(int fd);
  void back_off(int error);
  void schedule_tick();
  void on_tick();

  EventLoop& loop_;
  const ListenerOptions& options_;
  std::atomic<std::size_t>& open_;
  const Duration tick_;
  TimePoint coarse_now_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      acceptor_;
  boost::asio::ip::tcp protocol_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                    boost::asio::wait_traits<std::chrono::steady_clock>,
                                    boost::asio::io_context::executor_type>
      tick_timer_, back_off_timer_;
  bool ticking_ = false;
  boost::intrusive::list<Connection> connections_;
  std::move_only_function<void()> when_empty_;
};

}  // namespace proa::net
