#include "net/http2_stream.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "fmt/core.h"
#include "net/body_pace.h"
#include "net/http1_response.h"
#include "net/http2_session.h"
#include "net/http_date.h"

namespace proa::net {
namespace {

using FieldVector = boost::container::small_vector<nghttp2_nv, 16>;

// How many sent segments a stream that is never empty keeps at most.
constexpr std::size_t kSpentSegments = 32;

nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto* n = reinterpret_cast<const std::uint8_t*>(name.data());
  const auto* v = reinterpret_cast<const std::uint8_t*>(value.data());
  return {const_cast<std::uint8_t*>(n), const_cast<std::uint8_t*>(v), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

ssize_t offer_data(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t length,
                   std::uint32_t* flags, nghttp2_data_source* source, void*) {
  return static_cast<Http2Stream*>(source->ptr)->offer(length, *flags);
}

}  // namespace

Http2Stream::Http2Stream(Http2Session& session, std::int32_t id)
    : Exchange(session.connection().loop()), session_(session), id_(id) {}

Http2Stream::~Http2Stream() { session_.note_taken(unsent_); }

std::string_view Http2Stream::peer() { return session_.connection().peer(); }

void Http2Stream::start(const RequestHead& head, bool expects_continue) {
  Connection& connection = session_.connection();
  bodiless_ = head.method == "HEAD";
  if (head.content_length > 0) {
    body_started_ = connection.host().coarse_now();
    body_deadline_ = connection.body_deadline(body_started_, 0);
  }
  handler_ = connection.host().factory()(head);
  PROA_CHECK(handler_ != nullptr, "a HandlerFactory makes a handler for every request");
  handler_->on_head(*this, head);
  manual_flow_ = handler_->manual_flow_control();
  if (expects_continue && answer_ == Answer::kAwaited && !reset_) {
    const nghttp2_nv status = field(":status", "100");
    nghttp2_submit_headers(session_.raw(), NGHTTP2_FLAG_NONE, id_, nullptr, &status, 1, nullptr);
  }
}

void Http2Stream::receive(std::span<const std::byte> data) {
  const Limits& limits = session_.connection().limits();
  received_ += data.size();
  if (body_deadline_ != kNever) {
    body_deadline_ = session_.connection().body_deadline(body_started_, received_);
  }
  if (delivering() && !manual_flow_ && received_ > limits.max_body_bytes) {
    refuse(413, fmt::format("the body is too long; at most {} bytes are accepted",
                            limits.max_body_bytes));
  }
  if (delivering() && manual_flow_) {
    unconsumed_ += data.size();
  } else {
    nghttp2_session_consume(session_.raw(), id_, data.size());
  }
  if (delivering()) handler_->on_data(data);
}

// Looked at once a tick, which is all that a limit of many seconds needs.
bool Http2Stream::body_overdue(TimePoint now) {
  if (now >= body_deadline_) return true;
  const Limits& limits = session_.connection().limits();
  // The client may wait for room in the connection's window, which other streams fill.
  const auto window_used = nghttp2_session_get_effective_recv_data_length(session_.raw());
  const bool can_send = window_used < static_cast<std::int32_t>(limits.connection_window_bytes / 2);
  const bool waits = body_deadline_ == kNever && delivering() && !request_ended_ && can_send &&
                     handler_->awaits_rest();
  if (!waits) {
    rest_started_ = kNever;
    return false;
  }
  if (rest_started_ == kNever) {
    rest_started_ = now;
    rest_begin_ = received_;
  }
  if (rest_started_ == now || rest_seen_ != received_) {
    rest_seen_ = received_;
    rest_progress_ = now;
  }
  return now >= body_overdue_at(limits, rest_started_, received_ - rest_begin_, rest_progress_);
}

void Http2Stream::end_body() {
  request_ended_ = true;
  body_deadline_ = kNever;
  if (delivering()) handler_->on_end();
}

void Http2Stream::refuse(int status, std::string_view why) {
  body_deadline_ = kNever;
  if (handler_ != nullptr) {
    detach();
    const std::unique_ptr<ExchangeHandler> handler = std::move(handler_);
    handler->on_close(CloseReason::kServerAbort);
  }
  if (answer_ != Answer::kAwaited) return reset(NGHTTP2_INTERNAL_ERROR);
  const Header headers[] = {{"content-type", "application/json"}};
  Segment body[] = {{json_error(why), {}}};
  respond(status, headers, body);
}

ExchangeRef Http2Stream::finish(std::uint32_t http2_error, bool connection_lost,
                                CloseReason lost_reason) {
  CloseReason reason = lost_reason;
  if (!connection_lost) {
    reason = http2_error == NGHTTP2_NO_ERROR && sent_whole() ? CloseReason::kFinished
             : reset_                                        ? CloseReason::kServerAbort
                                                             : CloseReason::kClientReset;
  }
  if (!connection_lost && unconsumed_ > 0) {
    nghttp2_session_consume_connection(session_.raw(), std::exchange(unconsumed_, 0));
  }
  ExchangeRef left = detach();
  if (handler_ != nullptr) {
    const std::unique_ptr<ExchangeHandler> handler = std::move(handler_);
    handler->on_close(reason);
  }
  return left;
}

void Http2Stream::call_on_writable() {
  if (delivering()) handler_->on_writable();
}

void Http2Stream::respond(int status, std::span<const Header> headers, std::span<Segment> body) {
  if (answer_ != Answer::kAwaited || reset_) return;
  std::size_t size = 0;
  for (const Segment& part : body) size += part.size();
  char digits[21];
  *std::to_chars(digits, digits + 20, size).ptr = '\0';
  answer_ = Answer::kEnded;
  const bool with_data = size > 0 && !bodiless_;
  if (with_data) enqueue(body);
  submit(status, headers, with_data, bodiless(status) ? nullptr : digits);
}

void Http2Stream::send_headers(int status, std::span<const Header> headers) {
  if (answer_ != Answer::kAwaited || reset_) return;
  answer_ = Answer::kParts;
  submit(status, headers, /*with_data=*/true, nullptr);
}

void Http2Stream::send_data(std::span<Segment> data) {
  if (answer_ != Answer::kParts || reset_) return;
  if (bodiless_) return;
  enqueue(data);
  resume();
}

void Http2Stream::end(std::span<const Header> trailers) {
  if (answer_ == Answer::kAwaited) send_headers(200, {});
  if (answer_ != Answer::kParts || reset_) return;
  answer_ = Answer::kEnded;
  for (const Header& trailer : trailers) trailers_.emplace_back(trailer.name, trailer.value);
  resume();
}

void Http2Stream::submit(int status, std::span<const Header> headers, bool with_data,
                         const char* length) {
  char digits[3];
  std::to_chars(digits, digits + 3, status);
  FieldVector fields;
  fields.push_back(field(":status", {digits, 3}));
  bool grpc = false;  // gRPC's servers send no date, and its clients look at none
  for (const Header& header : headers) {
    grpc |= header.name == "content-type" && header.value.starts_with("application/grpc");
    fields.push_back(field(header.name, header.value));
  }
  if (!grpc) fields.push_back(field("date", http_date_now()));
  if (length != nullptr) fields.push_back(field("content-length", length));
  nghttp2_data_provider provider{.source = {.ptr = this}, .read_callback = offer_data};
  nghttp2_submit_response(session_.raw(), id_, fields.data(), fields.size(),
                          with_data ? &provider : nullptr);
  session_.connection().mark_dirty();
}

void Http2Stream::enqueue(std::span<Segment> data) {
  std::size_t added = 0;
  for (Segment& part : data) {
    added += part.size();
    if (part.bytes.size() >= OutputQueue::kReferenceBytes) {
      // Frames take it in pieces: share it rather than copy each.
      auto owned = std::make_unique<std::string>(std::move(part.bytes));
      auto* bytes = reinterpret_cast<std::byte*>(owned->data());
      const std::size_t size = owned->size();
      Segment shared;
      shared.view = BufferView(Buffer::wrap(bytes, size, [owned = std::move(owned)] {}));
      queue_.push_back(std::move(shared));
      part.bytes.clear();
    }
    if (part.size() > 0) queue_.push_back(std::move(part));
  }
  unsent_ += added;
  session_.note_queued(added);
  if (unsent_ > session_.connection().limits().low_water_bytes) above_low_water_ = true;
}

void Http2Stream::resume() {
  if (deferred_) {
    deferred_ = false;
    nghttp2_session_resume_data(session_.raw(), id_);
  }
  session_.connection().mark_dirty();
}

ssize_t Http2Stream::offer(std::size_t length, std::uint32_t& flags) {
  if (unsent_ == 0 && answer_ != Answer::kEnded) {
    deferred_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  const std::size_t given = std::min(length, unsent_);
  if (given == unsent_ && answer_ == Answer::kEnded) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!trailers_.empty()) {
      flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      FieldVector fields;
      for (const auto& [name, value] : trailers_) fields.push_back(field(name, value));
      nghttp2_submit_trailer(session_.raw(), id_, fields.data(), fields.size());
    }
  }
  return static_cast<ssize_t>(given);
}

void Http2Stream::take(std::size_t length, OutputQueue& out) {
  unsent_ -= length;
  session_.note_taken(length);
  while (length > 0) {
    Segment& part = queue_[queue_first_];
    if (!part.bytes.empty()) {
      const std::size_t n = std::min(length, part.bytes.size());
      out.append(std::string_view(part.bytes).substr(0, n));
      part.bytes.erase(0, n);
      length -= n;
    }
    if (const std::size_t n = std::min(length, part.view.size); n > 0) {
      out.append(part.view.sub(0, n));
      part.view.offset += n;
      part.view.size -= n;
      length -= n;
    }
    if (part.size() == 0) {
      part = Segment();
      ++queue_first_;
    }
  }
  if (queue_first_ == queue_.size() || queue_first_ >= kSpentSegments) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queue_first_));
    queue_first_ = 0;
  }
  if (above_low_water_ && unsent_ <= session_.connection().limits().low_water_bytes) {
    above_low_water_ = false;
    if (delivering()) session_.note_writable(*this);
  }
}

void Http2Stream::reset(std::uint32_t http2_error) {
  if (reset_) return;
  reset_ = true;
  nghttp2_submit_rst_stream(session_.raw(), NGHTTP2_FLAG_NONE, id_, http2_error);
  session_.connection().mark_dirty();
}

void Http2Stream::consume(std::size_t bytes) {
  const std::size_t n = std::min(bytes, unconsumed_);
  unconsumed_ -= n;
  nghttp2_session_consume(session_.raw(), id_, n);
  session_.connection().mark_dirty();
}

}  // namespace proa::net
