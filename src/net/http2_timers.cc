// Http2Session's look at its limits in time.
#include "net/http2_session.h"

namespace proa::net {
namespace {

constexpr std::uint8_t kAlivePing[8] = {'p', 'r', 'o', 'a', 'l', 'i', 'v', 'e'};

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
    stream.refuse(408, "the request's body stopped coming");
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
  nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, kAlivePing);
  ping_deadline_ = connection_.deadline(limits.ping_timeout);
  connection_.mark_dirty();
}

}  // namespace proa::net
