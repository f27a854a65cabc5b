#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>

#include "boost/intrusive/list_hook.hpp"
#include "net/event_loop.h"
#include "net/limits.h"
#include "net/output_queue.h"
#include "net/session.h"
#include "net/socket.h"

namespace proa::net {

class Connection;

// Where connections live: one listener's share of one loop.
class ConnectionHost {
 public:
  virtual EventLoop& loop() = 0;
  virtual const Limits& limits() const = 0;
  virtual const HandlerFactory& factory() const = 0;
  // The time of the last tick: good enough for limits, and free.
  virtual TimePoint coarse_now() const = 0;
  // How late coarse_now() may be.
  virtual Duration tick() const = 0;
  // `connection` is over; deletes it.
  virtual void remove(Connection& connection) = 0;

 protected:
  ~ConnectionHost() = default;
};

// One client's TCP connection: moves bytes between its socket and its Session, and ends when either
// says so. Starts without a protocol and picks one by the first bytes.
//
// Life: made by a ConnectionHost, deleted by ConnectionHost::remove() once it is closed and its
// last wait has come back. close_soon() only marks; the work is done outside of callbacks.
// Threading: confined to its loop's thread.
class Connection final : public EventLoop::Flushable, public boost::intrusive::list_base_hook<> {
 public:
  Connection(ConnectionHost& host, Socket socket, const sockaddr_storage& peer);
  ~Connection();

  void start();
  void start_drain();
  void on_tick(TimePoint now);
  // Ends it now; may delete it. Not from inside a Session's call.
  void close(CloseReason reason);

  // For sessions.
  ConnectionHost& host() { return host_; }
  EventLoop& loop() { return host_.loop(); }
  const Limits& limits() const { return host_.limits(); }
  OutputQueue& output() { return output_; }
  // True while the socket takes no more bytes.
  bool blocked() const { return waiting_to_write_; }
  std::string_view peer();
  // When something that may take `timeout` from now is overdue; kNever for a timeout of 0.
  TimePoint deadline(std::chrono::milliseconds timeout) const;
  // When a body is overdue of which `received` bytes have come since `started`, the last of them
  // now.
  TimePoint body_deadline(TimePoint started, std::uint64_t received) const;
  void mark_dirty() { loop().mark_dirty(*this); }
  // Ends the connection after the current event; what is in output() is lost.
  void close_soon(CloseReason reason);
  // As close_soon(), because the client passed a limit: `why` is for the log.
  void close_abused(std::string_view why);
  // Counts and logs (at debug level) that the client passed a limit.
  void note_abuse(std::string_view why);
  // Ends the connection when output() has been sent: with `linger`, tells the client and drops what
  // it still sends for a moment, so that it gets to read the answer.
  void close_when_sent(bool linger);
  bool closing() const { return closing_ || closed_; }
  // Replaces the protocol; `bytes` are its first input.
  void become(std::unique_ptr<Session> next, std::span<std::byte> bytes);

  void flush() override;

 private:
  void wait_to_read();
  void wait_to_write();
  void on_readable();
  bool read_once();
  void finish_sending();

  ConnectionHost& host_;
  Socket socket_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Session> retired_;  // replaced while it was running
  OutputQueue output_;
  TimePoint write_deadline_ = kNever;
  TimePoint linger_deadline_ = kNever;
  bool waiting_to_read_ = false;
  bool waiting_to_write_ = false;
  bool close_when_sent_ = false;
  bool linger_ = false;
  bool lingering_ = false;
  bool closing_ = false;
  bool closed_ = false;
  CloseReason close_reason_ = CloseReason::kServerAbort;
  sockaddr_storage peer_address_;
  std::string peer_;
};

}  // namespace proa::net
