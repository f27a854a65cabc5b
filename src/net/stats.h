#pragma once

#include <atomic>
#include <cstdint>

namespace proa::net {

// A number that one thread counts and others read at any time.
class Counter {
 public:
  void add(std::uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  void subtract(std::uint64_t n) { value_.store(get() - n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// What one loop has done. Threading: counted by the loop's thread, readable by any.
struct LoopStats {
  Counter connections_open;
  Counter connections_accepted;  // all since the start, those open included
  Counter connections_refused;   // beyond Limits::max_connections
  Counter accept_errors;
  Counter http1_requests;
  Counter http2_requests;
  Counter bytes_received;
  Counter bytes_sent;
  Counter streams_reset;       // by the client, before their response was whole
  Counter connections_abused;  // closed for floods, time-outs and unread output
};

// The sum over loops. Threading: a plain value.
struct NetStats {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t accept_errors = 0;
  std::uint64_t http1_requests = 0;
  std::uint64_t http2_requests = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t streams_reset = 0;
  std::uint64_t connections_abused = 0;

  void add(const LoopStats& loop);
};

}  // namespace proa::net
