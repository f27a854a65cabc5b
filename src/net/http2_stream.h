#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boost/container/small_vector.hpp"
#include "boost/intrusive/list.hpp"
#include "net/exchange.h"
#include "net/output_queue.h"

namespace proa::net {

class Http2Session;

// One HTTP/2 stream: its handler, the body on its way in, the response on its way out. Data waits
// in `queue_` until nghttp2, which knows the windows, asks for it.
// Threading: confined to its loop's thread. Owned by its Http2Session, from its HEADERS to
// nghttp2's on_stream_close.
class Http2Stream final : public Exchange, public boost::intrusive::list_base_hook<> {
 public:
  Http2Stream(Http2Session& session, std::int32_t id);
  ~Http2Stream() override;

  // Request side, called by the session.
  void start(const RequestHead& head, bool expects_continue);
  void receive(std::span<const std::byte> data);
  void end_body();
  // Answers with a JSON error in place of the handler; resets the stream if an answer has begun.
  void refuse(int status, std::string_view why);
  // The stream is over. Returns a handle when somebody still works for it.
  ExchangeRef finish(std::uint32_t http2_error, bool connection_lost, CloseReason lost_reason);
  void call_on_writable();

  // nghttp2 wants up to `length` bytes of the response: how many it gets, and flags.
  ssize_t offer(std::size_t length, std::uint32_t& flags);
  // Moves what was offered to the output.
  void take(std::size_t length, OutputQueue& out);

  std::int32_t id() const { return id_; }
  bool request_ended() const { return request_ended_; }
  bool reset_by_client(std::uint32_t http2_error) const {
    return http2_error != NGHTTP2_NO_ERROR && !reset_ && !sent_whole();
  }
  // For the session's look at limits.
  bool body_overdue(TimePoint now);

  std::string_view peer() override;
  void respond(int status, std::span<const Header> headers, std::span<Segment> body) override;
  void send_headers(int status, std::span<const Header> headers) override;
  void send_data(std::span<Segment> data) override;
  void end(std::span<const Header> trailers) override;
  std::size_t unsent_bytes() const override { return unsent_; }
  void reset(std::uint32_t http2_error) override;
  void consume(std::size_t bytes) override;

 private:
  enum class Answer : std::uint8_t { kAwaited, kParts, kEnded };

  bool delivering() const { return handler_ != nullptr && answer_ != Answer::kEnded && !reset_; }
  bool sent_whole() const { return answer_ == Answer::kEnded && unsent_ == 0; }
  void submit(int status, std::span<const Header> headers, bool with_data, const char* length);
  void enqueue(std::span<Segment> data);
  void resume();

  Http2Session& session_;
  const std::int32_t id_;
  std::unique_ptr<ExchangeHandler> handler_;
  Answer answer_ = Answer::kAwaited;
  bool request_ended_ = false;
  bool bodiless_ = false;  // HEAD
  bool manual_flow_ = false;
  bool deferred_ = false;  // nghttp2 waits for resume()
  bool reset_ = false;     // by us
  bool above_low_water_ = false;
  std::uint64_t received_ = 0;
  std::size_t unconsumed_ = 0;
  TimePoint body_started_ = kNever;
  TimePoint body_deadline_ = kNever;
  TimePoint rest_started_ = kNever;   // since when the handler awaits the rest of something
  std::uint64_t rest_begin_ = 0;      // received_ then
  TimePoint rest_progress_ = kNever;  // when more of it was last seen
  std::uint64_t rest_seen_ = 0;       // received_ then

  boost::container::small_vector<Segment, 2> queue_;
  std::size_t queue_first_ = 0;
  std::size_t unsent_ = 0;
  boost::container::small_vector<std::pair<std::string, std::string>, 2> trailers_;
};

}  // namespace proa::net
