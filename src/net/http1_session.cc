#include "net/http1_session.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "fmt/core.h"
#include "net/http1_response.h"

namespace proa::net {
namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";
// How much room for header names a connection keeps from one request to the next.
constexpr std::size_t kKeptNameBytes = 1024;

std::span<const std::byte> as_bytes(std::span<const char> text) { return std::as_bytes(text); }

bool starts_a_method(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

Http1Session::Http1Session(Connection& connection)
    : Exchange(connection.loop()),
      connection_(connection),
      deadline_(connection.deadline(connection.limits().head_timeout)) {}

Http1Session::~Http1Session() = default;

bool Http1Session::wants_read() const {
  switch (input_) {
    case Input::kLengthBody:
    case Input::kChunkedBody:
      return !paused();
    case Input::kComplete:
      return stash_.size() - stash_begin_ < connection_.limits().max_pipelined_bytes;
    case Input::kHead:
    case Input::kIgnored:
      return true;
  }
  return true;
}

bool Http1Session::paused() const {
  return manual_flow_ && delivering() && unconsumed_ >= connection_.limits().stream_window_bytes;
}

TimePoint Http1Session::body_deadline() const {
  // A stream of messages may be slow.
  if (manual_flow_) return connection_.deadline(connection_.limits().body_timeout);
  const std::uint64_t received = head_.chunked ? received_ : head_.content_length - remaining_;
  return connection_.body_deadline(body_started_, received);
}

std::span<std::byte> Http1Session::read_target() {
  if (input_ != Input::kLengthBody || !delivering() || !stash_.empty()) return {};
  if (target_.empty()) target_ = handler_->body_target(remaining_);
  return target_.first(std::min<std::uint64_t>(target_.size(), remaining_));
}

void Http1Session::on_filled(std::size_t bytes) {
  target_ = target_.subspan(bytes);
  remaining_ -= bytes;
  if (manual_flow_) unconsumed_ += bytes;
  deadline_ = body_deadline();
  handler_->on_filled(bytes);
  if (remaining_ == 0) end_body();
}

void Http1Session::on_bytes(std::span<std::byte> bytes) {
  const std::span<char> in(reinterpret_cast<char*>(bytes.data()), bytes.size());
  if (stash_.empty()) {
    const std::span<char> rest = process(in);
    stash_.assign(rest.data(), rest.size());
    return;
  }
  stash_.erase(0, stash_begin_);
  stash_begin_ = 0;
  stash_.append(in.data(), in.size());
  process_stash();
}

void Http1Session::process_stash() {
  const std::span<char> rest = process(std::span(stash_).subspan(stash_begin_));
  stash_begin_ = stash_.size() - rest.size();
  if (!rest.empty()) return;
  stash_begin_ = 0;
  stash_.clear();
}

std::span<char> Http1Session::process(std::span<char> in) {
  while (!connection_.closing()) {
    switch (input_) {
      case Input::kHead:
        if (!take_head(in)) return in;
        break;
      case Input::kLengthBody:
        if (in.empty() || paused()) return in;
        take_length_body(in);
        break;
      case Input::kChunkedBody:
        if (paused() || !take_chunks(in)) return in;
        break;
      case Input::kComplete:
        return in;
      case Input::kIgnored:
        return {};
    }
  }
  return {};
}

bool Http1Session::take_head(std::span<char>& in) {
  // An empty line in front of a request is left over from clients that end bodies with one.
  while (in.size() >= 2 && in[0] == '\r' && in[1] == '\n') in = in.subspan(2);
  if (in.empty() || (in.size() == 1 && in[0] == '\r')) return false;
  if (!starts_a_method(in[0])) {
    refuse(400, "this is not an HTTP request (a client that speaks TLS to a port without it?)");
    return true;
  }
  const std::size_t from = scanned_ < 3 ? 0 : scanned_ - 3;
  const void* end =
      memmem(in.data() + from, in.size() - from, kEndOfHead.data(), kEndOfHead.size());
  if (end == nullptr) {
    if (scanned_ == 0) deadline_ = connection_.deadline(connection_.limits().head_timeout);
    scanned_ = in.size();
    return refuse_incomplete_head(in);
  }
  const std::size_t size = static_cast<const char*>(end) + kEndOfHead.size() - in.data();
  scanned_ = 0;
  if (size > connection_.limits().max_head_bytes) return refuse_incomplete_head(in.first(size));
  const std::span<char> bytes = in.first(size);
  in = in.subspan(size);
  if (auto refusal = parser_.parse_head(bytes, connection_.limits(), head_)) {
    refuse(refusal->status, refusal->why);
  } else {
    start_exchange();
  }
  return true;
}

// True when the head was refused because it is too long already.
bool Http1Session::refuse_incomplete_head(std::span<const char> in) {
  const Limits& limits = connection_.limits();
  const bool in_first_line = std::memchr(in.data(), '\n', in.size()) == nullptr;
  if (in_first_line && in.size() > limits.max_target_bytes + 64) {
    refuse(414, fmt::format("the request target is too long; at most {} bytes are accepted",
                            limits.max_target_bytes));
    return true;
  }
  if (in.size() <= limits.max_head_bytes) return false;
  refuse(431, fmt::format("the request's head is too long; at most {} bytes are accepted",
                          limits.max_head_bytes));
  return true;
}

void Http1Session::start_exchange() {
  connection_.loop().stats().http1_requests.add(1);
  remaining_ = head_.content_length;
  received_ = unconsumed_ = 0;
  input_ = head_.chunked ? Input::kChunkedBody
                         : (remaining_ > 0 ? Input::kLengthBody : Input::kComplete);
  answer_ = Answer::kAwaited;
  close_after_ = !head_.keep_alive || draining_;
  bodiless_ = head_.method == "HEAD";
  owes_continue_ = head_.expects_continue && input_ != Input::kComplete;
  body_started_ = connection_.host().coarse_now();
  deadline_ = connection_.body_deadline(body_started_, 0);

  RequestHead head;
  head.method = head_.method;
  head.target = head_.target;
  head.authority = head_.host;
  head.headers = head_.headers;
  head.content_length = head_.chunked ? -1 : static_cast<std::int64_t>(remaining_);
  handler_ = connection_.host().factory()(head);
  PROA_CHECK(handler_ != nullptr, "a HandlerFactory makes a handler for every request");
  handler_->on_head(*this, head);
  // Nobody looks at the head any more: a long one must not stay with an idle connection.
  if (head_.lower_names.capacity() > kKeptNameBytes) head_.lower_names = {};
  manual_flow_ = handler_->manual_flow_control();
  if (input_ == Input::kComplete) {
    end_body();
  } else if (owes_continue_ && answer_ == Answer::kAwaited) {
    owes_continue_ = false;
    connection_.output().append("HTTP/1.1 100 Continue\r\n\r\n");
    connection_.mark_dirty();
  }
}

void Http1Session::take_length_body(std::span<char>& in) {
  const std::size_t n = std::min<std::uint64_t>(in.size(), remaining_);
  std::span<const char> data = in.first(n);
  in = in.subspan(n);
  remaining_ -= n;
  deliver(data);
  if (remaining_ == 0) end_body();
}

// False when more bytes are needed.
bool Http1Session::take_chunks(std::span<char>& in) {
  if (in.empty()) return false;
  const Http1Parser::Chunk chunk = parser_.next_chunk({in.data(), in.size()});
  if (chunk.refusal) {
    refuse(chunk.refusal->status, chunk.refusal->why);
    return true;
  }
  in = in.subspan(chunk.used);
  const Limits& limits = connection_.limits();
  received_ += chunk.data.size();
  if (received_ > limits.max_body_bytes) {
    refuse(413, fmt::format("the body is too long; at most {} bytes are accepted",
                            limits.max_body_bytes));
    return true;
  }
  if (chunk.used == 0 && in.size() > limits.max_head_bytes) {
    refuse(431, "a chunk's header or the trailers are too long");
    return true;
  }
  deliver(chunk.data);
  if (chunk.last) end_body();
  return chunk.used > 0;
}

void Http1Session::deliver(std::span<const char> data) {
  deadline_ = body_deadline();
  while (!data.empty() && delivering() && !connection_.closing()) {
    if (input_ == Input::kLengthBody && target_.empty()) {
      target_ = handler_->body_target(remaining_ + data.size());
    }
    const std::size_t n = target_.empty() ? data.size() : std::min(data.size(), target_.size());
    if (manual_flow_) unconsumed_ += n;
    if (target_.empty()) return handler_->on_data(as_bytes(data));
    std::memcpy(target_.data(), data.data(), n);
    target_ = target_.subspan(n);
    data = data.subspan(n);
    handler_->on_filled(n);
  }
}

void Http1Session::end_body() {
  if (input_ == Input::kIgnored) return;  // the handler refused in the middle of it
  input_ = Input::kComplete;
  target_ = {};
  if (delivering()) {
    handler_->on_end();
  } else {
    connection_.mark_dirty();  // a dropped body has ended: the next request may start
  }
}

void Http1Session::refuse(int status, std::string_view why) {
  const bool answered = input_ != Input::kHead && answer_ != Answer::kAwaited;
  if (answered) return connection_.close_soon(CloseReason::kServerAbort);
  if (answer_ == Answer::kAwaited) finish_exchange(CloseReason::kServerAbort);
  connection_.output().write([&](std::string& out) { append_error_response(out, status, why); });
  input_ = Input::kIgnored;
  connection_.close_when_sent(/*linger=*/true);
}

void Http1Session::on_tick(TimePoint now) {
  if (now < deadline_) return;
  switch (input_) {
    case Input::kHead:
      if (scanned_ == 0) return connection_.close_soon(CloseReason::kFinished);
      connection_.note_abuse("its request did not come in time");
      return refuse(408, "the request's head did not come in time");
    case Input::kLengthBody:
    case Input::kChunkedBody:
      if (paused()) return;
      connection_.note_abuse("its request did not come in time");
      return refuse(408, "the request's body stopped coming, or comes too slowly");
    case Input::kComplete:
    case Input::kIgnored:
      return;
  }
}

void Http1Session::start_drain() {
  draining_ = true;
  close_after_ = true;
  const bool between_requests = answer_ == Answer::kNone && scanned_ == 0;
  if (between_requests && input_ != Input::kIgnored) {
    connection_.close_soon(CloseReason::kFinished);
  }
}

void Http1Session::on_closed(CloseReason reason) {
  if (handler_ != nullptr) finish_exchange(reason);
}

}  // namespace proa::net
