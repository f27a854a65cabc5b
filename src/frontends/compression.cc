#include "frontends/compression.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "zlib.h"

namespace proa::frontends {
namespace {

constexpr int kZlibWindow = 15;
constexpr int kGzipWindow = kZlibWindow + 16;
constexpr int kEitherWindow = kZlibWindow + 32;  // inflate recognises the header

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

// The weight of "gzip;q=0.5" in thousandths; 1000 without one.
int weight_of(std::string_view parameters) {
  const auto at = parameters.find("q=");
  if (at == std::string_view::npos) return 1000;
  double weight = 1;
  std::from_chars(parameters.data() + at + 2, parameters.data() + parameters.size(), weight);
  return static_cast<int>(std::clamp(weight, 0.0, 1.0) * 1000);
}

// zlib's idea of bytes.
Bytef* zlib_bytes(const std::byte* bytes) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes));
}

// An inflate stream that ends with its scope.
struct Inflater {
  z_stream stream{};
  Inflater() { PROA_CHECK(inflateInit2(&stream, kEitherWindow) == Z_OK, "zlib: inflateInit2"); }
  ~Inflater() { inflateEnd(&stream); }
};

struct Deflater {
  z_stream stream{};
  Deflater(Encoding encoding, int level) {
    const int window = encoding == Encoding::kGzip ? kGzipWindow : kZlibWindow;
    constexpr int kMemoryLevel = 8;
    PROA_CHECK(
        deflateInit2(&stream, level, Z_DEFLATED, window, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK,
        "zlib: deflateInit2");
  }
  ~Deflater() { deflateEnd(&stream); }

  void pack(std::span<const std::byte> data, int flush, std::string& out) {
    stream.next_in = zlib_bytes(data.data());
    stream.avail_in = static_cast<uInt>(data.size());
    do {
      const std::size_t before = out.size();
      const std::size_t room = std::max<std::size_t>(data.size() / 2, 512);
      out.resize(before + room);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
      stream.avail_out = static_cast<uInt>(room);
      deflate(&stream, flush);
      out.resize(before + room - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

}  // namespace

Encoding parse_encoding(std::string_view name) {
  if (name.empty() || equals_ignoring_case(name, "identity")) return Encoding::kIdentity;
  if (equals_ignoring_case(name, "gzip")) return Encoding::kGzip;
  if (equals_ignoring_case(name, "deflate")) return Encoding::kDeflate;
  return Encoding::kUnknown;
}

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::kGzip:
      return "gzip";
    case Encoding::kDeflate:
      return "deflate";
    case Encoding::kIdentity:
      return "identity";
    case Encoding::kUnknown:
      break;
  }
  return "unknown";
}

Encoding choose_encoding(std::string_view accepted) {
  Encoding best = Encoding::kIdentity;
  int best_weight = 0;
  while (!accepted.empty()) {
    const auto comma = std::min(accepted.find(','), accepted.size());
    const std::string_view item = accepted.substr(0, comma);
    accepted.remove_prefix(std::min(comma + 1, accepted.size()));
    const auto semicolon = std::min(item.find(';'), item.size());
    const Encoding encoding = parse_encoding(trim(item.substr(0, semicolon)));
    if (encoding != Encoding::kGzip && encoding != Encoding::kDeflate) continue;
    const int weight = weight_of(item.substr(semicolon));
    if (weight <= best_weight) continue;
    best = encoding;
    best_weight = weight;
  }
  return best;
}

Status decompress(std::span<const std::byte> packed, std::size_t max_bytes, std::string_view flag,
                  MessageBuffer& to) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  // zlib counts in 32 bits.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  stream.next_in = zlib_bytes(packed.data());
  std::size_t left = packed.size();  // not given to zlib yet
  to.start(std::nullopt);
  for (int state = Z_OK; state != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(std::min(left, kMost));
      left -= stream.avail_in;
    }
    const auto wanted = std::clamp<std::size_t>(packed.size() * 2, 4096, kMost);
    PROA_ASSIGN(auto room, to.room(wanted));
    room = room.first(std::min(room.size(), kMost));
    stream.next_out = zlib_bytes(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    state = inflate(&stream, Z_NO_FLUSH);
    to.filled(room.size() - stream.avail_out);
    if (to.size() > max_bytes) {
      return error::resource_exhausted(
          "the message is larger than {} bytes after decompression; the server's {} raises the "
          "limit",
          max_bytes, flag);
    }
    if (state == Z_STREAM_END && stream.avail_in + left > 0) state = Z_DATA_ERROR;
    if (state == Z_BUF_ERROR && left > 0) state = Z_OK;
    const bool stuck = state == Z_BUF_ERROR || (state == Z_OK && stream.avail_out > 0 && left == 0);
    if (stuck || (state != Z_OK && state != Z_STREAM_END)) {
      return error::invalid_argument("the compressed message is {}",
                                     stuck ? "cut short" : "not valid gzip or zlib data");
    }
  }
  return {};
}

void compress(std::span<const std::span<const std::byte>> parts, Encoding encoding, int level,
              std::string& out) {
  Deflater deflater(encoding, level);
  constexpr std::size_t kStep = std::size_t{1} << 30;  // zlib counts in 32 bits
  for (auto part : parts) {
    while (!part.empty()) {
      const auto step = part.first(std::min(part.size(), kStep));
      deflater.pack(step, Z_NO_FLUSH, out);
      part = part.subspan(step.size());
    }
  }
  deflater.pack({}, Z_FINISH, out);
}

}  // namespace proa::frontends
