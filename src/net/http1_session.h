#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/connection.h"
#include "net/exchange.h"
#include "net/http1_parser.h"
#include "net/session.h"

namespace proa::net {

// HTTP/1.1 on one connection: one exchange at a time. A pipelined request waits in `stash_` until
// the response before it has gone to the socket.
//
// The request side is a machine over Input (http1_session.cc), the response side one over Answer
// (http1_exchange.cc); they meet in finish_if_sent().
// Threading: confined to its loop's thread.
class Http1Session final : public Session, public Exchange {
 public:
  explicit Http1Session(Connection& connection);
  ~Http1Session() override;

  bool wants_read() const override;
  std::span<std::byte> read_target() override;
  void on_filled(std::size_t bytes) override;
  void on_bytes(std::span<std::byte> bytes) override;
  void on_written() override;
  void on_tick(TimePoint now) override;
  void start_drain() override;
  void on_closed(CloseReason reason) override;

  std::string_view peer() override { return connection_.peer(); }
  void respond(int status, std::span<const Header> headers, std::span<Segment> body) override;
  void send_headers(int status, std::span<const Header> headers) override;
  void send_data(std::span<Segment> data) override;
  void end(std::span<const Header> trailers) override;
  std::size_t unsent_bytes() const override;
  void reset(std::uint32_t http2_error) override;
  void consume(std::size_t bytes) override;

 private:
  // What the next bytes of the client are.
  enum class Input : std::uint8_t { kHead, kLengthBody, kChunkedBody, kComplete, kIgnored };
  // How far the response is. kNone: there is no exchange.
  enum class Answer : std::uint8_t { kNone, kAwaited, kParts, kEnded };

  // Request side. process() returns what it could not use yet.
  std::span<char> process(std::span<char> in);
  void process_stash();
  bool take_head(std::span<char>& in);
  bool refuse_incomplete_head(std::span<const char> in);
  void start_exchange();
  void take_length_body(std::span<char>& in);
  bool take_chunks(std::span<char>& in);
  void deliver(std::span<const char> data);
  void end_body();
  bool paused() const;
  TimePoint body_deadline() const;
  // The handler gets the body: it has neither ended its response nor gone.
  bool delivering() const { return answer_ == Answer::kAwaited || answer_ == Answer::kParts; }
  // Answers a request that cannot be served, or cuts the connection when an answer has begun.
  void refuse(int status, std::string_view why);

  // Response side.
  void write_head(int status, std::span<const Header> headers, std::size_t length, bool has_length);
  void decide_keep_alive();
  void answer_ended();
  void finish_if_sent();
  void finish_exchange(CloseReason reason);
  void note_output();

  Connection& connection_;
  Http1Parser parser_;
  Http1Head head_;
  Input input_ = Input::kHead;
  Answer answer_ = Answer::kNone;
  TimePoint body_started_ = kNever;
  TimePoint deadline_;  // of the head, the body or the idle connection, as input_ says

  std::string stash_;             // bytes that could not be used yet
  std::size_t stash_begin_ = 0;   // those before it are done with
  std::size_t scanned_ = 0;       // of an incomplete head: bytes known not to end it
  std::uint64_t remaining_ = 0;   // of a body with a length
  std::uint64_t received_ = 0;    // of a body in chunks
  std::uint64_t unconsumed_ = 0;  // with manual flow control
  std::span<std::byte> target_;   // the handler's memory still to fill

  std::unique_ptr<ExchangeHandler> handler_;
  bool manual_flow_ = false;
  bool bodiless_ = false;       // HEAD, 204, 304: the response's body is not sent
  bool chunked_ = false;        // the response's
  bool close_after_ = false;    // this response is the connection's last
  bool owes_continue_ = false;  // the client waits for "100 Continue"
  bool above_low_water_ = false;
  bool draining_ = false;
};

}  // namespace proa::net
