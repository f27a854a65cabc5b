#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loadgen/clients/address.h"
#include "loadgen/clients/client.h"
#include "loadgen/clients/grpc_call.h"
#include "loadgen/clients/loop.h"

namespace proa::loadgen {

// One HTTP/2 connection to a gRPC server, for many calls.
// Threading: confined to its loop's thread.
// Source: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md; RFC 9113.
class GrpcConnection final : private Loop::Handler {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void connected(GrpcConnection& connection) = 0;
    // It is closed; its calls have ended. `while_connecting`: it was never connected.
    virtual void lost(GrpcConnection& connection, const Failure& failure,
                      bool while_connecting) = 0;
  };

  // All must outlive the connection. `metadata`: "name: value" of each call.
  GrpcConnection(Loop& loop, const Address& address, const std::vector<std::string>& metadata,
                 Owner& owner);
  ~GrpcConnection() override;
  GrpcConnection(const GrpcConnection&) = delete;

  // Begins to connect, unless it has. The owner hears of the outcome, perhaps at once.
  void connect();

  // Starts a call, whose messages follow with send(). False: this connection takes no further
  // calls.
  bool open(GrpcCall& call, std::string_view path);
  // Sends a framed message, the call's last one with `last`; the one before must be on its way
  // (answered, or times().sent_all set). `framed` must stay until then. Leaves with the next
  // flush().
  void send(GrpcCall& call, std::string_view framed, bool last);
  // Resets the call; ended() is not called.
  void cancel(GrpcCall& call);
  // Hands to the kernel what has gathered.
  void flush();

  bool connected() const { return state_ == State::kConnected; }
  bool closed() const { return state_ == State::kClosed; }
  // How many more calls may run on it now; 0 once the server says that it goes away.
  std::size_t room(std::size_t most) const;
  std::size_t open_calls() const { return calls_.size(); }

 private:
  friend struct GrpcCallbacks;
  enum class State : std::uint8_t { kClosed, kConnecting, kConnected };

  void on_ready(std::uint32_t events) override;
  void make_session();
  void finish_connecting();
  void read_some();
  void lose(Failure failure);
  bool write_out();
  ssize_t read_message(GrpcCall& call, std::uint8_t* into, std::size_t length,
                       std::uint32_t* flags);
  void forget(GrpcCall& call);
  void end_call(GrpcCall& call, std::uint32_t http2_error);

  Loop& loop_;
  const Address& address_;
  const std::vector<std::string>& metadata_;
  Owner& owner_;
  int fd_ = -1;
  State state_ = State::kClosed;
  bool waits_to_write_ = false;
  bool going_away_ = false;
  nghttp2_session* session_ = nullptr;
  std::vector<GrpcCall*> calls_;      // open
  std::vector<GrpcCall*> starting_;   // their message's first byte is in out_
  std::vector<GrpcCall*> just_sent_;  // their last byte goes out with this flush
  std::string out_;                   // bytes for the kernel
  std::size_t written_ = 0;           // of them
  TimePoint moment_;                  // of the read that is being worked on
};

}  // namespace proa::loadgen
