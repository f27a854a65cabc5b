#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boost/intrusive/list.hpp"
#include "net/connection.h"
#include "net/http1_response.h"
#include "net/http2_guards.h"
#include "net/http2_stream.h"
#include "net/session.h"

namespace proa::net {

// HTTP/2 on one connection, on nghttp2: framing, HPACK and windows are nghttp2's; streams, limits,
// drain and what reaches the socket are ours. nghttp2 calls back from inside read and write calls
// (http2_callbacks.cc), so nothing here ends the session at once: see Connection::close_soon().
// Threading: confined to its loop's thread.
class Http2Session final : public Session {
 public:
  explicit Http2Session(Connection& connection);
  ~Http2Session() override;

  bool wants_read() const override { return true; }
  void on_bytes(std::span<std::byte> bytes) override;
  void fill_output() override;
  void on_written() override;
  void on_tick(TimePoint now) override;
  void start_drain() override;
  void on_closed(CloseReason reason) override;

  // For streams.
  nghttp2_session* raw() { return raw_.get(); }
  Connection& connection() { return connection_; }
  void note_queued(std::size_t bytes) { unsent_ += bytes; }
  void note_taken(std::size_t bytes) { unsent_ -= bytes; }
  void note_writable(Http2Stream& stream) { writable_.push_back(stream.id()); }

 private:
  friend struct Http2Callbacks;
  struct Deleter {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };
  struct Field {
    std::uint32_t name, name_size, value, value_size;
  };
  enum class Drain : std::uint8_t { kNone, kNoticed, kFinal };

  // From nghttp2, through http2_callbacks.cc.
  void begin_head() { head_size_ = 0; }
  // Counts a field of a head or of trailers; false, and the end of the connection, for a client
  // that sends far more than it may.
  bool count_field(std::size_t bytes);
  void begin_request(std::int32_t id);
  void add_field(std::string_view name, std::string_view value);
  void end_request_head(std::int32_t id, bool end_stream);
  // The head that add_field() has gathered, and what is wrong with it.
  RequestHead read_head();
  std::optional<Refusal> check_head(const RequestHead& head) const;
  void on_frame(const nghttp2_frame& frame);
  void on_ping(const nghttp2_frame& frame);
  void on_frame_sent(const nghttp2_frame& frame);
  void on_frame_not_sent(const nghttp2_frame& frame);
  void on_stream_close(std::int32_t id, std::uint32_t error);
  void take_data(Http2Stream& stream, std::size_t length, const std::uint8_t* frame_head);

  Http2Stream* find(std::int32_t id);
  bool may_open_stream();
  void count_reset();
  void count_control_frame();
  // GOAWAY with an error and a reason for the log of the client; then the connection ends.
  void expel(std::uint32_t http2_error, std::string_view why);
  void send_drain_ping();
  void finish_drain();
  bool idle() const { return streams_.empty(); }
  bool unread_output_overdue(TimePoint now);
  void keep_alive(TimePoint now);
  void release(Http2Stream& stream);

  Connection& connection_;
  std::unique_ptr<nghttp2_session, Deleter> raw_;
  boost::intrusive::list<Http2Stream> streams_;
  std::vector<ExchangeRef> abandoned_;  // of reset streams whose work is still under way
  std::vector<std::int32_t> writable_;  // streams to tell that their output has shrunk

  // The head now being received; HTTP/2 never interleaves two.
  std::string head_bytes_;
  std::vector<Field> head_fields_;
  std::vector<Header> headers_;
  std::size_t head_size_ = 0;  // of all fields so far, as HPACK counts them
  bool head_too_long_ = false;

  RateGuard resets_, control_frames_;
  PingGuard pings_;
  TimePoint idle_deadline_;            // while there are no streams
  TimePoint age_deadline_;             // until the drain it starts
  TimePoint drain_deadline_ = kNever;  // of the round trip, then of the grace after the age
  TimePoint stall_deadline_ = kNever;
  TimePoint last_read_;
  TimePoint ping_deadline_ = kNever;  // of our own keep-alive ping
  std::uint32_t pings_sent_ = 0;      // of our own, since we last sent headers or data
  std::size_t unsent_ = 0;            // of all streams
  bool took_data_ = false;            // since the last tick
  Drain drain_ = Drain::kNone;
  bool aged_ = false;
  bool expelled_ = false;
  bool goodbye_sent_ = false;
};

}  // namespace proa::net
