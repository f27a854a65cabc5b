#pragma once

#include <cstdint>
#include <string_view>

#include "loadgen/clients/address.h"
#include "loadgen/clients/client.h"
#include "loadgen/clients/http_response.h"
#include "loadgen/clients/loop.h"

namespace proa::loadgen {

// One HTTP/1.1 connection: one request at a time, kept alive between them, opened anew when the
// server has closed it.
// Threading: confined to its loop's thread.
class HttpConnection final : private Loop::Handler {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // A connection has been made.
    virtual void connected(HttpConnection& connection) = 0;
    // reply() is complete.
    virtual void replied(HttpConnection& connection) = 0;
    // The request, or the connecting for one to come, has failed; the connection is closed.
    virtual void failed(HttpConnection& connection, Failure failure, bool while_connecting) = 0;
  };

  // What happened to the request in hand, or the last one.
  struct Times {
    TimePoint sent, sent_all, first_byte, last_byte;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
  };

  // All three must outlive the connection.
  HttpConnection(Loop& loop, const Address& address, Owner& owner)
      : loop_(loop), address_(address), owner_(owner) {}
  ~HttpConnection() override;
  HttpConnection(const HttpConnection&) = delete;

  // Begins to connect, unless it is connected. The owner hears of the outcome, perhaps at once.
  void connect();
  // Sends a whole request, connecting first where needed. `bytes` must stay until the owner has
  // heard of the outcome, which may be at once. Not while another request is under way.
  void send(std::string_view bytes, HttpResponseReader::Keep keep);
  // Breaks off without a word to the owner.
  void close();

  bool connected() const { return state_ == State::kConnected; }
  const HttpResponseReader& reply() const { return reply_; }
  const Times& times() const { return times_; }

 private:
  enum class State : std::uint8_t { kClosed, kConnecting, kConnected };

  void on_ready(std::uint32_t events) override;
  void finish_connecting();
  void write_some();
  void read_some();
  void take_bytes(std::string_view bytes, TimePoint arrived);
  void broken(int error_number);
  void fail(Failure failure, bool while_connecting = false);
  void complete();

  Loop& loop_;
  const Address& address_;
  Owner& owner_;
  int fd_ = -1;
  State state_ = State::kClosed;
  bool waits_to_write_ = false;
  bool busy_ = false;    // a request is in hand
  bool served_ = false;  // this connection has answered before
  std::string_view request_;
  std::size_t written_ = 0;
  HttpResponseReader::Keep keep_ = HttpResponseReader::Keep::kErrors;
  HttpResponseReader reply_;
  Times times_;
};

}  // namespace proa::loadgen
