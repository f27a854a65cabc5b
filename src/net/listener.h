#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/exchange.h"
#include "net/limits.h"

namespace proa::net {

class Acceptor;

struct ListenerOptions {
  std::string name = "HTTP";         // for messages: "HTTP port 8000 is in use"
  std::string flag = "--http-port";  // what a user changes when the port is taken
  std::string address = "0.0.0.0";   // an IPv4 or IPv6 address, or "localhost"
  std::uint16_t port = 0;            // 0 = any free port
  bool expects_http2 = false;        // what a client speaks that has not said a word
  bool shared = false;               // with other processes of this user that share it too
  HandlerFactory factory;
  Limits limits;
};

// An open port, accepted on by every loop. Each new connection is HTTP/2 when it starts with
// HTTP/2's preface ("prior knowledge", what gRPC clients send), else HTTP/1.1; all serve the same
// HandlerFactory.
// Threading: port() and address() from any thread, the rest from the thread that owns the
// LoopGroup. Owned by its LoopGroup, whose loops outlive it.
class Listener {
 public:
  // Binds the port once per loop and starts to accept. Errors: see LoopGroup::listen().
  static Result<std::unique_ptr<Listener>> open(ListenerOptions options,
                                                std::span<EventLoop* const> loops, Duration tick);
  ~Listener();

  std::uint16_t port() const { return port_; }
  const std::string& address() const { return options_.address; }

  // Closes the port; connections live on. Returns once no loop accepts any more.
  void stop_accepting();

  // For LoopGroup: calls `task` with each loop's share, on that loop's thread.
  void on_each_loop(const std::function<void(Acceptor&)>& task);
  std::size_t shares() const { return acceptors_.size(); }

 private:
  explicit Listener(ListenerOptions options);
  Status bind_all(std::span<EventLoop* const> loops, Duration tick);

  const ListenerOptions options_;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> open_connections_ = 0;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
};

}  // namespace proa::net
