#include "net/http2_session.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "fmt/core.h"
#include "net/http2_callbacks.h"

namespace proa::net {
namespace {

// How much output is prepared for one write.
constexpr std::size_t kFillBytes = 1024 * 1024;
// What every header field counts beyond its text. Source: RFC 9113, section 10.5.1.
constexpr std::size_t kFieldOverhead = 32;

std::string_view slice(const std::string& text, std::uint32_t at, std::uint32_t size) {
  return std::string_view(text).substr(at, size);
}

}  // namespace

Http2Session::Http2Session(Connection& connection)
    : connection_(connection),
      resets_(connection.limits().reset_burst, connection.limits().resets_per_second),
      control_frames_(connection.limits().control_burst,
                      connection.limits().control_frames_per_second),
      pings_(connection.limits()),
      idle_deadline_(connection.deadline(connection.limits().http2_idle_timeout)),
      age_deadline_(connection.deadline(connection.limits().max_connection_age)),
      last_read_(connection.host().coarse_now()) {
  nghttp2_session* made = nullptr;
  PROA_CHECK(nghttp2_session_server_new2(&made, http2_callbacks(), this, http2_options()) == 0,
             "out of memory");
  raw_.reset(made);
  const Limits& limits = connection.limits();
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.max_concurrent_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, limits.max_frame_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.max_head_bytes)}};
  nghttp2_submit_settings(raw(), NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(raw(), NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(limits.connection_window_bytes));
  connection.mark_dirty();
}

Http2Session::~Http2Session() {
  streams_.clear_and_dispose([](Http2Stream* stream) { delete stream; });
}

void Http2Session::on_bytes(std::span<std::byte> bytes) {
  if (expelled_) return;
  last_read_ = connection_.host().coarse_now();
  ping_deadline_ = kNever;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t used = nghttp2_session_mem_recv(raw(), data, bytes.size());
  // Broken frames are no failure: nghttp2 answers those with a GOAWAY of its own. These leave it
  // in the middle of a frame, so no further byte may be read.
  if (used < 0) expel(NGHTTP2_ENHANCE_YOUR_CALM, nghttp2_strerror(static_cast<int>(used)));
  connection_.mark_dirty();
}

void Http2Session::fill_output() {
  OutputQueue& out = connection_.output();
  while (out.size() < kFillBytes && !goodbye_sent_) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(raw(), &data);
    if (size < 0) return connection_.close_abused("HTTP/2 cannot go on");
    if (size == 0) break;
    out.append({reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)});
  }
}

void Http2Session::on_written() {
  // By id: a stream may end in between.
  for (std::size_t i = 0; i < writable_.size(); ++i) {
    if (Http2Stream* stream = find(writable_[i])) stream->call_on_writable();
  }
  writable_.clear();
  // nghttp2 takes the first GOAWAY of a drain for the end; the second is still to come.
  const bool over = drain_ != Drain::kNoticed && nghttp2_session_want_read(raw()) == 0 &&
                    nghttp2_session_want_write(raw()) == 0;
  const bool drained = drain_ == Drain::kFinal && idle();
  if (over || drained || goodbye_sent_) connection_.close_when_sent(/*linger=*/true);
}

Http2Stream* Http2Session::find(std::int32_t id) {
  return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(raw(), id));
}

// A few bytes of HPACK can stand for megabytes of header, each of which is looked at.
bool Http2Session::count_field(std::size_t bytes) {
  head_size_ += kFieldOverhead + bytes;
  if (head_size_ <= 2 * connection_.limits().max_head_bytes) return true;
  expel(NGHTTP2_ENHANCE_YOUR_CALM, "head_too_long");
  return false;
}

void Http2Session::begin_request(std::int32_t id) {
  head_bytes_.clear();
  head_fields_.clear();
  head_too_long_ = false;
  if (unsent_ > connection_.limits().max_unsent_bytes) {
    nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    return;
  }
  if (expelled_ || drain_ == Drain::kFinal || !may_open_stream()) {
    nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
    return count_reset();
  }
  auto* stream = new Http2Stream(*this, id);
  streams_.push_back(*stream);
  nghttp2_session_set_stream_user_data(raw(), id, stream);
}

// Work of streams that the client has reset counts as long as it lasts.
bool Http2Session::may_open_stream() {
  if (abandoned_.empty()) return true;  // nghttp2 counts the open ones
  const std::size_t limit = connection_.limits().max_concurrent_streams;
  if (streams_.size() + abandoned_.size() < limit) return true;
  std::erase_if(abandoned_, [](const ExchangeRef& ref) { return ref.unique(); });
  return streams_.size() + abandoned_.size() < limit;
}

void Http2Session::add_field(std::string_view name, std::string_view value) {
  const Limits& limits = connection_.limits();
  if (head_size_ > limits.max_head_bytes || head_fields_.size() >= limits.max_headers) {
    head_too_long_ = true;
  }
  if (head_too_long_) return;
  const auto at = static_cast<std::uint32_t>(head_bytes_.size());
  head_bytes_ += name;
  head_bytes_ += value;
  const auto name_size = static_cast<std::uint32_t>(name.size());
  head_fields_.push_back({at, name_size, at + name_size, static_cast<std::uint32_t>(value.size())});
}

void Http2Session::end_request_head(std::int32_t id, bool end_stream) {
  Http2Stream* stream = find(id);
  if (stream == nullptr) return;
  connection_.loop().stats().http2_requests.add(1);
  const RequestHead head = read_head();
  if (head_too_long_) count_control_frame();
  if (const auto refusal = check_head(head)) {
    stream->refuse(refusal->status, refusal->why);
  } else {
    stream->start(head, !end_stream && head.header("expect") == "100-continue");
  }
}

RequestHead Http2Session::read_head() {
  RequestHead head;
  head.http_major = 2;
  headers_.clear();
  for (const Field& field : head_fields_) {
    const Header header{slice(head_bytes_, field.name, field.name_size),
                        slice(head_bytes_, field.value, field.value_size)};
    if (!header.name.starts_with(':')) {
      headers_.push_back(header);
      if (header.name == "content-length")
        head.content_length = parse_number<std::int64_t>(header.value).value_or(-1);
      if (header.name == "host" && head.authority.empty()) head.authority = header.value;
    } else if (header.name == ":method") {
      head.method = header.value;
    } else if (header.name == ":path") {
      head.target = header.value;
    } else if (header.name == ":authority") {
      head.authority = header.value;
    }
  }
  head.headers = headers_;
  return head;
}

std::optional<Refusal> Http2Session::check_head(const RequestHead& head) const {
  const Limits& limits = connection_.limits();
  if (head_too_long_) {
    return Refusal{431, fmt::format("the request's head is too long; at most {} bytes in {} lines "
                                    "are accepted",
                                    limits.max_head_bytes, limits.max_headers)};
  }
  if (head.target.size() > limits.max_target_bytes) {
    return Refusal{414, fmt::format("the request target has {} bytes; at most {} are accepted",
                                    head.target.size(), limits.max_target_bytes)};
  }
  if (head.content_length > 0 &&
      static_cast<std::uint64_t>(head.content_length) > limits.max_body_bytes) {
    return Refusal{413, fmt::format("the body has {} bytes; at most {} are accepted",
                                    head.content_length, limits.max_body_bytes)};
  }
  return std::nullopt;
}

void Http2Session::on_frame(const nghttp2_frame& frame) {
  const std::int32_t id = frame.hd.stream_id;
  const bool end_stream = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
      if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) end_request_head(id, end_stream);
      break;
    case NGHTTP2_DATA:
      if (frame.hd.length == 0 && !end_stream) count_control_frame();
      break;
    case NGHTTP2_PING:
      return on_ping(frame);
    case NGHTTP2_SETTINGS:
    case NGHTTP2_PRIORITY:
      return count_control_frame();
    default:
      return;
  }
  if (!end_stream) return;
  if (Http2Stream* stream = find(id)) stream->end_body();
}

void Http2Session::on_frame_sent(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_DATA:
    case NGHTTP2_HEADERS:
      break;
    case NGHTTP2_GOAWAY:
      goodbye_sent_ = expelled_;
      if (drain_ == Drain::kNoticed) send_drain_ping();
      return;
    default:
      return;
  }
  pings_.on_data_sent();
  pings_sent_ = 0;
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  Http2Stream* stream = find(frame.hd.stream_id);
  if (stream == nullptr || stream->request_ended()) return;
  // The answer is whole: the client need not send the rest. Source: RFC 9113, section 8.1.
  nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_NO_ERROR);
}

void Http2Session::on_frame_not_sent(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS) return;
  // Headers beyond what nghttp2 sends: without them the client would wait for ever.
  if (Http2Stream* stream = find(frame.hd.stream_id)) stream->reset(NGHTTP2_INTERNAL_ERROR);
}

void Http2Session::take_data(Http2Stream& stream, std::size_t length,
                             const std::uint8_t* frame_head) {
  constexpr std::size_t kFrameHead = 9;
  OutputQueue& out = connection_.output();
  out.append({reinterpret_cast<const char*>(frame_head), kFrameHead});
  stream.take(length, out);
  took_data_ = true;
}

void Http2Session::on_stream_close(std::int32_t id, std::uint32_t error) {
  Http2Stream* stream = find(id);
  if (stream == nullptr) return;
  nghttp2_session_set_stream_user_data(raw(), id, nullptr);
  const bool by_client = stream->reset_by_client(error);
  ExchangeRef left = stream->finish(error, /*connection_lost=*/false, CloseReason::kFinished);
  if (by_client) {
    connection_.loop().stats().streams_reset.add(1);
    count_reset();
    if (left && !left.unique()) abandoned_.push_back(std::move(left));
  }
  release(*stream);
}

void Http2Session::release(Http2Stream& stream) {
  streams_.erase_and_dispose(streams_.iterator_to(stream), [](Http2Stream* gone) { delete gone; });
  if (!idle()) return;
  idle_deadline_ = connection_.deadline(connection_.limits().http2_idle_timeout);
  if (drain_ == Drain::kFinal) connection_.mark_dirty();
}

void Http2Session::on_closed(CloseReason reason) {
  while (!streams_.empty()) {
    Http2Stream& stream = streams_.front();
    nghttp2_session_set_stream_user_data(raw(), stream.id(), nullptr);
    stream.finish(NGHTTP2_NO_ERROR, /*connection_lost=*/true, reason);
    streams_.pop_front_and_dispose([](Http2Stream* gone) { delete gone; });
  }
}

}  // namespace proa::net
