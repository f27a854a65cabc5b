#include "image/orientation.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace proa::image {
namespace {

// Numbers of either byte order; nothing beyond the end.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, bool big_endian)
      : bytes_(bytes), big_endian_(big_endian) {}

  std::optional<std::uint32_t> u16(std::size_t at) const { return number(at, 2); }
  std::optional<std::uint32_t> u32(std::size_t at) const { return number(at, 4); }

 private:
  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t from = big_endian_ ? i : size - 1 - i;
      value = value << 8 | static_cast<std::uint32_t>(bytes_[at + from]);
    }
    return value;
  }

  std::span<const std::byte> bytes_;
  bool big_endian_;
};

bool equals(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

// Where the pixel that ends at (x, y) of a `width` x `height` result is stored.
struct Source {
  int x, y;
};
Source source_of(Orientation orientation, int x, int y, int width, int height) {
  switch (orientation) {
    case Orientation::kUpright:
      return {x, y};
    case Orientation::kMirrored:
      return {width - 1 - x, y};
    case Orientation::kUpsideDown:
      return {width - 1 - x, height - 1 - y};
    case Orientation::kMirroredUpsideDown:
      return {x, height - 1 - y};
    case Orientation::kTransposed:
      return {y, x};
    case Orientation::kTurnedLeft:
      return {y, width - 1 - x};
    case Orientation::kTransverse:
      return {height - 1 - y, width - 1 - x};
    case Orientation::kTurnedRight:
      return {height - 1 - y, x};
  }
  return {x, y};
}

}  // namespace

Orientation exif_orientation(std::span<const std::byte> exif) {
  constexpr std::uint32_t kTag = 0x0112, kShort = 3;
  constexpr std::size_t kEntryBytes = 12;
  const bool big_endian = equals(exif, "MM");
  if (!big_endian && !equals(exif, "II")) return Orientation::kUpright;
  const Reader reader(exif, big_endian);
  const auto directory = reader.u32(4);
  if (reader.u16(2) != 42U || !directory) return Orientation::kUpright;
  const auto entries = reader.u16(*directory);
  for (std::size_t i = 0; entries && i < *entries; ++i) {
    const std::size_t at = *directory + 2 + i * kEntryBytes;
    const auto tag = reader.u16(at);
    if (!tag) break;
    if (*tag != kTag || reader.u16(at + 2) != kShort) continue;
    const auto value = reader.u16(at + 8);
    if (value && *value >= 1 && *value <= 8) return static_cast<Orientation>(*value);
  }
  return Orientation::kUpright;
}

Orientation jpeg_orientation(std::span<const std::byte> file) {
  constexpr std::uint32_t kApp1 = 0xffe1, kStartOfScan = 0xffda;
  const Reader reader(file, /*big_endian=*/true);
  for (std::size_t at = 2;;) {
    const auto marker = reader.u16(at);
    const auto length = reader.u16(at + 2);
    if (!marker || !length || *marker < 0xff00 || *marker == kStartOfScan || *length < 2) break;
    const auto segment =
        file.subspan(at + 4).first(std::min<std::size_t>(*length - 2, file.size() - at - 4));
    constexpr std::string_view kExif("Exif\0\0", 6);
    if (*marker == kApp1 && equals(segment, kExif)) {
      return exif_orientation(segment.subspan(kExif.size()));
    }
    at += 2 + *length;
  }
  return Orientation::kUpright;
}

Orientation webp_orientation(std::span<const std::byte> file) {
  constexpr std::size_t kHeader = 12, kChunkHeader = 8;
  const Reader reader(file, /*big_endian=*/false);
  for (std::size_t at = kHeader;;) {
    const auto length = reader.u32(at + 4);
    if (!length || *length > file.size() - at - kChunkHeader) break;
    const auto chunk = file.subspan(at + kChunkHeader, *length);
    if (equals(file.subspan(at), "EXIF")) {
      // Some writers begin it as in a JPEG.
      constexpr std::string_view kExif("Exif\0\0", 6);
      return exif_orientation(equals(chunk, kExif) ? chunk.subspan(kExif.size()) : chunk);
    }
    at += kChunkHeader + *length + *length % 2;
    if (at > file.size()) break;
  }
  return Orientation::kUpright;
}

Image turn_upright(Image image, Orientation orientation) {
  if (orientation == Orientation::kUpright) return image;
  Image turned = swaps_sides(orientation) ? make_image(image.height, image.width)
                                          : make_image(image.width, image.height);
  // Where a pixel comes from is linear in x and y.
  const auto offset = [&](int x, int y) {
    const Source from = source_of(orientation, x, y, turned.width, turned.height);
    return static_cast<std::ptrdiff_t>(image.row_bytes()) * from.y + from.x * Image::kChannels;
  };
  const std::ptrdiff_t origin = offset(0, 0);
  const std::ptrdiff_t right = offset(1, 0) - origin, down = offset(0, 1) - origin;
  constexpr int kTile = 32;  // both sides of a tile stay in the cache
  for (int top = 0; top < turned.height; top += kTile) {
    for (int left = 0; left < turned.width; left += kTile) {
      const int end = std::min(left + kTile, turned.width);
      for (int y = top; y < std::min(top + kTile, turned.height); ++y) {
        const std::uint8_t* from = image.row(0) + origin + y * down + left * right;
        std::uint8_t* to = turned.row(y) + left * Image::kChannels;
        for (int x = left; x < end; ++x, to += Image::kChannels, from += right) {
          for (int c = 0; c < Image::kChannels; ++c) to[c] = from[c];
        }
      }
    }
  }
  return turned;
}

Decoded upright(Image image, Orientation orientation) {
  Decoded decoded;
  decoded.image = turn_upright(std::move(image), orientation);
  decoded.original = {decoded.image.width, decoded.image.height};
  return decoded;
}

}  // namespace proa::image
