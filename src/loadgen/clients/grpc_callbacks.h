#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>

namespace proa::loadgen {

class GrpcConnection;

// nghttp2's callbacks of a client session: from C to GrpcConnection and GrpcCall.
struct GrpcCallbacks {
  static nghttp2_session* make_session(GrpcConnection& connection);

  static ssize_t read_message(nghttp2_session*, std::int32_t, std::uint8_t* into,
                              std::size_t length, std::uint32_t* flags, nghttp2_data_source* source,
                              void* user);

 private:
  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user);
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user);
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                     std::size_t size, void* user);
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* user);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user);
};

}  // namespace proa::loadgen
