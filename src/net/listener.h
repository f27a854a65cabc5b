#pragma once

#include <cstdint>
#include <string>

#include "net/exchange.h"
#include "net/limits.h"

namespace proa::net {

struct ListenerOptions {
  std::string name = "HTTP";         // for messages: "HTTP port 8000 is in use"
  std::string flag = "--http-port";  // what a user changes when the port is taken
  std::string address = "0.0.0.0";   // an IPv4 or IPv6 address
  std::uint16_t port = 0;            // 0 = any free port
  HandlerFactory factory;
  Limits limits;
};

// An open port. Each new connection is HTTP/2 when it starts with HTTP/2's preface ("prior
// knowledge", what gRPC clients send), else HTTP/1.1; all serve the same HandlerFactory.
// Threading: thread-safe. Owned by its LoopGroup.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual std::uint16_t port() const = 0;
  virtual const std::string& address() const = 0;
  // Closes the port; connections live on. Returns once no loop accepts any more.
  virtual void stop_accepting() = 0;
};

}  // namespace proa::net
