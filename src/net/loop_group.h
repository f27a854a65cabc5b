#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "net/stats.h"

namespace proa::net {

// The event loops of a server and the ports they serve. Every loop accepts on every listener
// (SO_REUSEPORT); the kernel spreads connections over them.
//
// Threading: owned and called by one thread (main), never a loop's; stats() and loop() from any.
// Destroyed after everything that answers exchanges (models, timers), since those post to its
// loops.
class LoopGroup {
 public:
  struct Options {
    int loops = 0;  // 0 = base available_cpus()
    const Clock* clock = &steady_clock();
    // How often limits in time are looked at: what they may be late by.
    std::chrono::milliseconds tick{250};
  };

  LoopGroup() : LoopGroup(Options()) {}
  explicit LoopGroup(const Options& options);
  // Closes everything at once; drain() first for a clean end.
  ~LoopGroup();

  // Opens a port and starts to serve it. The Listener lives as long as the group.
  // Errors: kUnavailable when the port is taken, kPermissionDenied, kInvalidArgument for an address
  // this machine does not have.
  Result<Listener*> listen(ListenerOptions options);

  // Once, at the end: stops accepting, closes idle connections, lets running exchanges end
  // (HTTP/1.1: "Connection: close"; HTTP/2: GOAWAY in two steps), and at `deadline` cuts what is
  // left. Blocks until all connections are closed; returns how many had to be cut.
  std::size_t drain(TimePoint deadline);

  std::size_t size() const { return loops_.size(); }
  EventLoop& loop(std::size_t index) { return *loops_[index]; }
  NetStats stats() const;

 private:
  const Duration tick_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::thread> threads_;
};

}  // namespace proa::net
