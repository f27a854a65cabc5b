// Http2Session's limits, in number and in time, and its drain.
#include <cstring>
#include <utility>

#include "net/http2_session.h"

namespace proa::net {
namespace {

// The payload of our keep-alive pings.
constexpr std::uint8_t kAlivePing[8] = {'p', 'r', 'o', 'a', 'l', 'i', 'v', 'e'};

// The payload of the ping whose answer ends the first step of a drain.
constexpr std::uint8_t kDrainPing[8] = {'p', 'r', 'o', 'a', 'd', 'r', 'n', 0};
// How long the first GOAWAY may take to reach the client before the second is sent anyway.
constexpr std::chrono::milliseconds kDrainRoundTrip{1000};

}  // namespace

void Http2Session::on_tick(TimePoint now) {
  if (expelled_) return;
  if (drain_ == Drain::kNoticed && now >= drain_deadline_) finish_drain();
  if (drain_ == Drain::kFinal && now >= drain_deadline_) {
    return connection_.close_soon(CloseReason::kServerAbort);
  }
  if (drain_ == Drain::kNone && idle() && now >= idle_deadline_) start_drain();
  if (drain_ == Drain::kNone && now >= age_deadline_) {
    aged_ = true;
    start_drain();
  }
  if (unread_output_overdue(now)) {
    return connection_.close_abused("it opens no window for its responses");
  }
  keep_alive(now);
  for (Http2Stream& stream : streams_) {
    if (!stream.body_overdue(now)) continue;
    connection_.note_abuse("a request did not come in time");
    stream.refuse(408, "the request's body stopped coming, or comes too slowly");
  }
}

// True when the client has taken nothing of a large output for too long.
bool Http2Session::unread_output_overdue(TimePoint now) {
  const Limits& limits = connection_.limits();
  const bool stalled = unsent_ > limits.unread_bytes && !std::exchange(took_data_, false);
  if (!stalled) {
    stall_deadline_ = kNever;
  } else if (stall_deadline_ == kNever) {
    stall_deadline_ = connection_.deadline(limits.write_timeout);
  }
  return now >= stall_deadline_;
}

void Http2Session::keep_alive(TimePoint now) {
  const Limits& limits = connection_.limits();
  if (now >= ping_deadline_) return connection_.close_abused("it does not answer pings");
  const bool wanted = limits.ping_interval.count() > 0 && ping_deadline_ == kNever &&
                      (!idle() || limits.ping_without_streams);
  if (!wanted || now - last_read_ < limits.ping_interval) return;
  if (limits.max_pings_without_data > 0 && pings_sent_ >= limits.max_pings_without_data) return;
  ++pings_sent_;
  nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, kAlivePing);
  ping_deadline_ = connection_.deadline(limits.ping_timeout);
  connection_.mark_dirty();
}

void Http2Session::on_ping(const nghttp2_frame& frame) {
  if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) {
    count_control_frame();
    if (!pings_.take(connection_.host().coarse_now(), !idle())) {
      expel(NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings");
    }
    return;
  }
  if (drain_ == Drain::kNoticed && std::memcmp(frame.ping.opaque_data, kDrainPing, 8) == 0) {
    finish_drain();
  }
}

void Http2Session::count_reset() {
  if (!resets_.take(connection_.host().coarse_now())) {
    expel(NGHTTP2_ENHANCE_YOUR_CALM, "too_many_resets");
  }
}

void Http2Session::count_control_frame() {
  if (!control_frames_.take(connection_.host().coarse_now())) {
    expel(NGHTTP2_ENHANCE_YOUR_CALM, "too_many_control_frames");
  }
}

void Http2Session::expel(std::uint32_t http2_error, std::string_view why) {
  if (expelled_) return;
  expelled_ = true;
  connection_.note_abuse(why);
  nghttp2_submit_goaway(raw(), NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(raw()),
                        http2_error, reinterpret_cast<const std::uint8_t*>(why.data()), why.size());
  connection_.mark_dirty();
}

// First a GOAWAY that names no stream, and a ping to learn when the client has seen it; requests
// that crossed it on the way are still served. Source: RFC 9113, section 6.8.
void Http2Session::start_drain() {
  if (drain_ != Drain::kNone) return;
  drain_ = Drain::kNoticed;
  drain_deadline_ = deadline_after(connection_.host().coarse_now(), kDrainRoundTrip);
  nghttp2_submit_shutdown_notice(raw());
  connection_.mark_dirty();
}

// Behind the GOAWAY, when that is sent: nghttp2 would send a ping in front of it.
void Http2Session::send_drain_ping() { nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, kDrainPing); }

void Http2Session::finish_drain() {
  drain_ = Drain::kFinal;
  drain_deadline_ = aged_ ? connection_.deadline(connection_.limits().age_grace) : kNever;
  nghttp2_submit_goaway(raw(), NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(raw()),
                        NGHTTP2_NO_ERROR, nullptr, 0);
  connection_.mark_dirty();
}

}  // namespace proa::net
