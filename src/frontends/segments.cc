#include "frontends/segments.h"

#include <utility>

namespace proa::frontends {

Segments to_segments(protocol::EncodedMessage message) {
  Segments parts;
  parts.reserve(message.parts.size());
  for (protocol::MessagePart& part : message.parts) {
    parts.push_back({std::move(part.bytes), std::move(part.view)});
  }
  return parts;
}

std::size_t total_size(std::span<const net::Segment> parts) {
  std::size_t size = 0;
  for (const net::Segment& part : parts) size += part.size();
  return size;
}

void pack(std::span<net::Segment> parts, std::size_t skip, Encoding encoding, int level) {
  boost::container::small_vector<std::span<const std::byte>, 8> plain;
  for (const net::Segment& part : parts) {
    plain.push_back(std::as_bytes(std::span(part.bytes)));
    plain.push_back(part.view.bytes());
  }
  plain.front() = plain.front().subspan(skip);
  std::string packed = parts.front().bytes.substr(0, skip);
  compress(plain, encoding, level, packed);
  for (net::Segment& part : parts) part = net::Segment();
  parts.front().bytes = std::move(packed);
}

}  // namespace proa::frontends
