#pragma once

#include <cstddef>
#include <span>

#include "base/clock.h"
#include "net/exchange.h"

namespace proa::net {

// A protocol on a Connection: turns the socket's bytes into exchanges and back. It never touches
// the socket; it puts bytes into Connection::output() and marks the connection dirty.
// Threading: confined to its loop's thread. Owned by its Connection.
class Session {
 public:
  virtual ~Session() = default;

  // False while the client has to wait: the socket is left unread, so that TCP holds it back.
  virtual bool wants_read() const = 0;
  // Where the next bytes should go; empty: into the loop's buffer, then on_bytes() gets them.
  virtual std::span<std::byte> read_target() { return {}; }
  virtual void on_filled(std::size_t bytes) { (void)bytes; }
  // The bytes may be changed; they are gone when it returns.
  virtual void on_bytes(std::span<std::byte> bytes) = 0;

  // Before each write: moves what may leave now into the connection's output.
  virtual void fill_output() {}
  // After each write, whole or in part.
  virtual void on_written() {}

  // Looks at its limits in time.
  virtual void on_tick(TimePoint now) = 0;
  // The server stops: no new requests, those under way may end.
  virtual void start_drain() = 0;
  // The connection is over: ends all exchanges. Last call.
  virtual void on_closed(CloseReason reason) = 0;
};

}  // namespace proa::net
