#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proa::frontends {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// A message in gRPC's framing.
inline std::string grpc_frame(std::string_view message, bool compressed = false) {
  std::string out(1, compressed ? '\1' : '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(message.size() >> shift & 0xff);
  }
  return out.append(message);
}

struct GrpcFrame {
  bool compressed = false;
  std::string message;
};

// The messages in a body. A cut one at the end is left out.
inline std::vector<GrpcFrame> parse_grpc_frames(std::string_view body) {
  std::vector<GrpcFrame> frames;
  while (body.size() >= 5) {
    std::size_t length = 0;
    for (int i = 1; i < 5; ++i) length = length << 8 | static_cast<unsigned char>(body[i]);
    if (body.size() - 5 < length) break;
    frames.push_back({body[0] != 0, std::string(body.substr(5, length))});
    body.remove_prefix(5 + length);
  }
  return frames;
}

}  // namespace proa::frontends
