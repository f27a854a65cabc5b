// The response side of Http1Session.
#include <algorithm>
#include <charconv>

#include "net/http1_response.h"
#include "net/http1_session.h"
#include "net/http_date.h"

namespace proa::net {
namespace {

std::size_t total_size(std::span<const Segment> parts) {
  std::size_t size = 0;
  for (const Segment& part : parts) size += part.size();
  return size;
}

void append_chunk_head(std::string& out, std::size_t size) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, size, 16);
  out.append(digits, end);
  out += "\r\n";
}

}  // namespace

void Http1Session::respond(int status, std::span<const Header> headers, std::span<Segment> body) {
  if (answer_ != Answer::kAwaited) return;
  decide_keep_alive();
  write_head(status, headers, total_size(body), /*has_length=*/true);
  for (Segment& part : body) {
    if (bodiless_) part = Segment();
    connection_.output().append(std::move(part));
  }
  answer_ended();
}

void Http1Session::send_headers(int status, std::span<const Header> headers) {
  if (answer_ != Answer::kAwaited) return;
  answer_ = Answer::kParts;
  chunked_ = !head_.http_1_0;
  // An HTTP/1.0 client learns of the end by the end of the connection.
  if (!chunked_ || owes_continue_) close_after_ = true;
  write_head(status, headers, 0, /*has_length=*/false);
  note_output();
}

void Http1Session::send_data(std::span<Segment> data) {
  if (answer_ != Answer::kParts) return;
  const std::size_t size = total_size(data);
  if (size == 0 || bodiless_) return;
  OutputQueue& out = connection_.output();
  if (chunked_) out.write([size](std::string& to) { append_chunk_head(to, size); });
  for (Segment& part : data) out.append(std::move(part));
  if (chunked_) out.append("\r\n");
  note_output();
}

void Http1Session::end(std::span<const Header>) {
  if (answer_ == Answer::kAwaited) return respond(200, {}, {});
  if (answer_ != Answer::kParts) return;
  if (chunked_ && !bodiless_) connection_.output().append("0\r\n\r\n");
  decide_keep_alive();
  answer_ended();
}

std::size_t Http1Session::unsent_bytes() const { return connection_.output().size(); }

void Http1Session::reset(std::uint32_t) { connection_.close_soon(CloseReason::kServerAbort); }

void Http1Session::consume(std::size_t bytes) {
  unconsumed_ -= std::min<std::uint64_t>(bytes, unconsumed_);
  connection_.mark_dirty();  // goes on reading after the current event
}

void Http1Session::write_head(int status, std::span<const Header> headers, std::size_t length,
                              bool has_length) {
  const bool never_a_body = bodiless(status);
  bodiless_ = bodiless_ || never_a_body;
  Framing framing;
  framing.has_length = has_length && !never_a_body;
  framing.length = length;
  framing.chunked = !has_length && chunked_ && !never_a_body;
  framing.keep_alive = !close_after_;
  framing.say_keep_alive = head_.http_1_0;
  framing.date = http_date_now();
  connection_.output().write(
      [&](std::string& out) { append_response_head(out, status, headers, framing); });
}

// May another request follow on this connection? A body that is still to come is dropped if that
// is cheap.
void Http1Session::decide_keep_alive() {
  const bool body_missing = input_ == Input::kLengthBody || input_ == Input::kChunkedBody;
  if (!body_missing) return;
  const bool cheap = input_ == Input::kLengthBody && !owes_continue_ &&
                     remaining_ <= connection_.limits().max_dropped_body_bytes;
  if (!cheap) close_after_ = true;
}

void Http1Session::answer_ended() {
  answer_ = Answer::kEnded;
  target_ = {};
  connection_.mark_dirty();
}

void Http1Session::note_output() {
  if (connection_.output().size() > connection_.limits().low_water_bytes) above_low_water_ = true;
  connection_.mark_dirty();
}

void Http1Session::on_written() {
  if (above_low_water_ && connection_.output().size() <= connection_.limits().low_water_bytes) {
    above_low_water_ = false;
    if (answer_ == Answer::kParts) handler_->on_writable();
  }
  finish_if_sent();
}

void Http1Session::finish_if_sent() {
  if (answer_ == Answer::kEnded && connection_.output().empty()) {
    finish_exchange(CloseReason::kFinished);
    if (close_after_) {
      const bool body_missing = input_ != Input::kComplete;
      input_ = Input::kIgnored;
      return connection_.close_when_sent(/*linger=*/body_missing);
    }
  }
  const bool resumed = !stash_.empty() && answer_ != Answer::kNone && manual_flow_ && !paused();
  if (answer_ == Answer::kNone && input_ == Input::kComplete) {
    input_ = Input::kHead;
    scanned_ = 0;
    deadline_ = connection_.deadline(connection_.limits().idle_timeout);
    if (!stash_.empty()) process_stash();
  } else if (resumed) {
    process_stash();
  }
}

void Http1Session::finish_exchange(CloseReason reason) {
  answer_ = Answer::kNone;
  above_low_water_ = false;
  manual_flow_ = false;
  chunked_ = false;
  target_ = {};
  detach();
  const std::unique_ptr<ExchangeHandler> handler = std::move(handler_);
  handler->on_close(reason);
}

}  // namespace proa::net
