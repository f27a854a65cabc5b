#include "net/http2_callbacks.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "net/http2_session.h"

namespace proa::net {

// What nghttp2 tells, passed on to the session and its streams.
struct Http2Callbacks {
  static Http2Session& session(void* user) { return *static_cast<Http2Session*>(user); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    session(user).begin_head();
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      session(user).begin_request(frame->hd.stream_id);
    }
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    if (!session(user).count_field(name_size + value_size)) return NGHTTP2_ERR_CALLBACK_FAILURE;
    // Trailers are dropped.
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      session(user).add_field({reinterpret_cast<const char*>(name), name_size},
                              {reinterpret_cast<const char*>(value), value_size});
    }
    return 0;
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    session(user).on_frame(*frame);
    return 0;
  }

  static int invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
    // A stream that was refused, or one that broke the rules: resets of its own making.
    if (frame->hd.stream_id != 0) session(user).count_reset();
    return 0;
  }

  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                  std::size_t size, void* user) {
    Http2Session& self = session(user);
    if (Http2Stream* stream = self.find(id)) {
      stream->receive({reinterpret_cast<const std::byte*>(bytes), size});
    } else {
      nghttp2_session_consume(self.raw(), id, size);
    }
    return 0;
  }

  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) {
    session(user).on_stream_close(id, error);
    return 0;
  }

  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    session(user).on_frame_sent(*frame);
    return 0;
  }

  static int frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* user) {
    session(user).on_frame_not_sent(*frame);
    return 0;
  }

  static int send_data(nghttp2_session*, nghttp2_frame*, const std::uint8_t* frame_head,
                       std::size_t length, nghttp2_data_source* source, void* user) {
    session(user).take_data(*static_cast<Http2Stream*>(source->ptr), length, frame_head);
    return 0;
  }

  // As long as the client's settings and windows allow, so that big bodies need few frames.
  static ssize_t frame_length(nghttp2_session*, std::uint8_t, std::int32_t,
                              std::int32_t session_window, std::int32_t stream_window,
                              std::uint32_t max_frame, void*) {
    constexpr std::int32_t kLongest = 1 << 20;
    const std::int32_t frame =
        static_cast<std::int32_t>(std::min<std::uint32_t>(max_frame, kLongest));
    return std::max(1, std::min({frame, session_window, stream_window}));
  }
};

namespace {

using Callbacks =
    std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)>;
using Options = std::unique_ptr<nghttp2_option, decltype(&nghttp2_option_del)>;

Callbacks make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  PROA_CHECK(nghttp2_session_callbacks_new(&made) == 0, "out of memory");
  using C = Http2Callbacks;
  nghttp2_session_callbacks_set_on_begin_headers_callback(made, C::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(made, C::header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, C::frame_received);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, C::invalid_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, C::data);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, C::stream_closed);
  nghttp2_session_callbacks_set_on_frame_send_callback(made, C::frame_sent);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(made, C::frame_not_sent);
  nghttp2_session_callbacks_set_send_data_callback(made, C::send_data);
  nghttp2_session_callbacks_set_data_source_read_length_callback(made, C::frame_length);
  return Callbacks(made, &nghttp2_session_callbacks_del);
}

Options make_options() {
  nghttp2_option* made = nullptr;
  PROA_CHECK(nghttp2_option_new(&made) == 0, "out of memory");
  nghttp2_option_set_no_auto_window_update(made, 1);
  nghttp2_option_set_no_closed_streams(made, 1);
  // Resets are counted by our own guard, which can be configured and answers with the right error.
  nghttp2_option_set_stream_reset_rate_limit(made, UINT32_MAX, UINT32_MAX);
  return Options(made, &nghttp2_option_del);
}

}  // namespace

const nghttp2_session_callbacks* http2_callbacks() {
  static const Callbacks callbacks = make_callbacks();
  return callbacks.get();
}

const nghttp2_option* http2_options() {
  static const Options options = make_options();
  return options.get();
}

}  // namespace proa::net
