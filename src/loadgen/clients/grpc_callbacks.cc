#include "loadgen/clients/grpc_callbacks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fmt/format.h"
#include "loadgen/clients/grpc_connection.h"

namespace proa::loadgen {
namespace {

GrpcConnection& connection_of(void* user) { return *static_cast<GrpcConnection*>(user); }

// Null for streams that were cancelled.
GrpcCall* call_of(nghttp2_session* session, std::int32_t id) {
  return static_cast<GrpcCall*>(nghttp2_session_get_stream_user_data(session, id));
}

// grpc-message is percent-encoded; what is malformed stays as it is.
std::string percent_decode(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    const std::optional<char> byte = percent_encoded_byte(text);
    decoded += byte.value_or(text.front());
    text.remove_prefix(byte ? 3 : 1);
  }
  return decoded;
}

}  // namespace

nghttp2_session* GrpcCallbacks::make_session(GrpcConnection& connection) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
  nghttp2_session* session = nullptr;
  nghttp2_session_client_new(&session, callbacks, &connection);
  nghttp2_session_callbacks_del(callbacks);
  return session;
}

ssize_t GrpcCallbacks::read_message(nghttp2_session*, std::int32_t, std::uint8_t* into,
                                    std::size_t length, std::uint32_t* flags,
                                    nghttp2_data_source* source, void* user) {
  return connection_of(user).read_message(*static_cast<GrpcCall*>(source->ptr), into, length,
                                          flags);
}

int GrpcCallbacks::on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame,
                                    void* user) {
  GrpcCall* call = call_of(session, frame->hd.stream_id);
  if (call != nullptr && call->times_.first_byte == TimePoint()) {
    GrpcCall::Times& times = call->times_;
    times.first_byte = connection_of(user).moment_;
    // The answer may be there before this thread has come back from sending.
    times.sent_all = std::min(times.sent_all, times.first_byte);
  }
  return 0;
}

int GrpcCallbacks::on_header(nghttp2_session* session, const nghttp2_frame* frame,
                             const std::uint8_t* name, std::size_t name_size,
                             const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                             void*) {
  GrpcCall* call = call_of(session, frame->hd.stream_id);
  if (call == nullptr) return 0;
  const std::string_view key(reinterpret_cast<const char*>(name), name_size);
  const std::string_view text(reinterpret_cast<const char*>(value), value_size);
  if (key == "grpc-status") {
    call->end_.status = parse_number<int>(text).value_or(2);
  } else if (key == "grpc-message") {
    call->end_.message = percent_decode(text);
  } else if (key == ":status" && text != "200") {
    call->end_.transport = fmt::format("HTTP {}", text);
    call->end_.message = fmt::format("the server answers with HTTP {}; is that a gRPC port?", text);
  }
  return 0;
}

int GrpcCallbacks::on_data(nghttp2_session* session, std::uint8_t, std::int32_t id,
                           const std::uint8_t* bytes, std::size_t size, void* user) {
  GrpcCall* call = call_of(session, id);
  if (call == nullptr || !call->end_.transport.empty()) return 0;  // cancelled; HTTP's own error
  const TimePoint now = connection_of(user).moment_;
  if (call->times_.first_byte == TimePoint()) call->times_.first_byte = now;
  call->times_.last_byte = now;
  call->times_.bytes_received += size;
  if (call->take_data({reinterpret_cast<const char*>(bytes), size})) return 0;
  call->end_.message = "a message came compressed, which was not asked for";
  nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  return 0;
}

int GrpcCallbacks::on_close(nghttp2_session* session, std::int32_t id, std::uint32_t error,
                            void* user) {
  GrpcCall* call = call_of(session, id);
  if (call != nullptr) connection_of(user).end_call(*call, error);
  return 0;
}

int GrpcCallbacks::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
  if (frame->hd.type == NGHTTP2_GOAWAY) connection_of(user).going_away_ = true;
  return 0;
}

}  // namespace proa::loadgen
