#pragma once

#include <string>

#include "net/connection.h"
#include "net/session.h"

namespace proa::net {

// The session of a connection that has not sent enough yet to tell HTTP/2 from HTTP/1.1. With TLS,
// ALPN would have told.
// Threading: confined to its loop's thread.
class ProtocolSniffer final : public Session {
 public:
  explicit ProtocolSniffer(Connection& connection);

  bool wants_read() const override { return true; }
  void on_bytes(std::span<std::byte> bytes) override;
  void on_tick(TimePoint now) override;
  void start_drain() override;
  void on_closed(CloseReason) override {}

 private:
  Connection& connection_;
  TimePoint deadline_;
  std::string seen_;
};

}  // namespace proa::net
