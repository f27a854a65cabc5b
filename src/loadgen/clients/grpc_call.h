#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace proa::loadgen {

// How a gRPC call ended. Source: the gRPC over HTTP/2 protocol.
struct GrpcEnd {
  int status = 0;  // grpc-status; 0 = OK, -1 = the call ended without one
  std::string message;
  std::string transport;  // what happened to the connection, where that ended the call

  // "gRPC UNAVAILABLE", "connection refused"
  std::string kind() const;
};

// "UNAVAILABLE" for 14, and so on.
std::string grpc_status_name(int status);

// One call on a GrpcConnection: unary, or a stream that sends and receives any number of messages.
// Its owner keeps it alive, and in place, from GrpcConnection::open() until ended() was called.
// Threading: confined to its loop's thread.
class GrpcCall {
 public:
  virtual ~GrpcCall() = default;

  // When the last message was handed to the kernel, first and last byte, and when the first and the
  // latest byte of the answer came. Set to the epoch by GrpcConnection::send().
  struct Times {
    TimePoint sent, sent_all, first_byte, last_byte;
    std::uint64_t bytes_received = 0;
  };
  const Times& times() const { return times_; }
  bool is_open() const { return id_ != 0; }

  // Whether the bytes of messages are needed; else message() gets an empty view.
  bool keep_messages = true;

 protected:
  // A whole message has come (without its frame).
  virtual void message(std::string_view bytes) = 0;
  // Nothing more happens on the call.
  virtual void ended(const GrpcEnd& end) = 0;

 private:
  friend class GrpcConnection;
  friend struct GrpcCallbacks;

  bool take_data(std::string_view bytes);

  std::int32_t id_ = 0;
  std::string_view unsent_;  // what is left of the message in hand
  bool half_close_ = false;  // behind it
  bool deferred_ = false;    // nghttp2 waits for more to send
  GrpcEnd end_;
  Times times_;
  std::string frame_;       // five bytes of framing, as they come
  std::uint64_t left_ = 0;  // of the message that is coming
  std::string message_;
};

}  // namespace proa::loadgen
