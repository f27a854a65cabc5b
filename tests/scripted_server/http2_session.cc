#include "http2_session.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kserve.h"

namespace proa::scripted {
namespace {

nghttp2_nv header(std::string_view name, std::string_view value) {
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
          value.size(), NGHTTP2_NV_FLAG_NONE};
}

// gRPC's five bytes in front of a message.
std::string framed(const std::string& message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string frame(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(size >> shift);
  return frame + message;
}

}  // namespace

struct Http2Session::Callbacks {
  static Http2Session& self(void* user) { return *static_cast<Http2Session*>(user); }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user) {
    if (std::string_view(reinterpret_cast<const char*>(name), name_size) == ":path") {
      self(user).calls_[frame->hd.stream_id].path.assign(reinterpret_cast<const char*>(value),
                                                         value_size);
    }
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    const bool message = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (message && last) self(user).call_came(frame->hd.stream_id);
    return 0;
  }
  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
    self(user).calls_.erase(stream);
    return 0;
  }
  static ssize_t read_reply(nghttp2_session* session, std::int32_t stream, std::uint8_t* buffer,
                            std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                            void* user) {
    std::string& reply = self(user).calls_[stream].reply;
    const std::size_t now = std::min(size, reply.size());
    std::memcpy(buffer, reply.data(), now);
    reply.erase(0, now);
    if (reply.empty()) {
      *flags = NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const nghttp2_nv trailer = header("grpc-status", "0");
      nghttp2_submit_trailer(session, stream, &trailer, 1);
    }
    return static_cast<ssize_t>(now);
  }
};

Http2Session::Http2Session(Host& host) : host_(host), session_(nullptr, nghttp2_session_del) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::on_close);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  session_.reset(session);
  const std::array settings{nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 10'000},
                            nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 16 << 20}};
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, 64 << 20);
}

bool Http2Session::read(std::string_view bytes) {
  const ssize_t taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  flush();
  return taken == static_cast<ssize_t>(bytes.size());
}

void Http2Session::call_came(std::int32_t stream) {
  const std::string& path = calls_[stream].path;
  if (path == kGrpcInferPath) {
    host_.inference_came(static_cast<std::uint32_t>(stream));
  } else if (const auto message = grpc_answer(path)) {
    respond(stream, *message);
  } else {
    fail(stream, "12", "the scripted server does not have this method");
  }
}

void Http2Session::answer(std::uint32_t request, bool failing) {
  const auto stream = static_cast<std::int32_t>(request);
  if (!calls_.contains(stream)) return;  // reset by the client
  if (failing) {
    fail(stream, "14", "scripted failure");
  } else {
    respond(stream, grpc_inference());
  }
  flush();
}

void Http2Session::respond(std::int32_t stream, const std::string& message) {
  calls_[stream].reply = framed(message);
  const std::array headers{header(":status", "200"), header("content-type", "application/grpc")};
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::read_reply;
  nghttp2_submit_response(session_.get(), stream, headers.data(), headers.size(), &provider);
}

void Http2Session::fail(std::int32_t stream, const char* status, const char* text) {
  const std::array headers{header(":status", "200"), header("content-type", "application/grpc"),
                           header("grpc-status", status), header("grpc-message", text)};
  nghttp2_submit_response(session_.get(), stream, headers.data(), headers.size(), nullptr);
}

void Http2Session::flush() {
  const std::uint8_t* bytes = nullptr;
  ssize_t size = 0;
  while ((size = nghttp2_session_mem_send(session_.get(), &bytes)) > 0) {
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
}

}  // namespace proa::scripted
