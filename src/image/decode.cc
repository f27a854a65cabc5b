#include "image/decode.h"

#include <cstring>
#include <string_view>

#include "image/decode_jpeg.h"
#include "image/decode_png.h"

namespace proa::image {
namespace {

bool starts_with(std::span<const std::byte> file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

// Formats that people send and that are not read: their name helps more than "unknown".
std::string_view foreign_format(std::span<const std::byte> file) {
  if (starts_with(file, "GIF8")) return "GIF";
  if (starts_with(file, "BM")) return "BMP";
  if (starts_with(file, "II*") || starts_with(file, std::string_view("MM\0*", 4))) return "TIFF";
  if (starts_with(file, "RIFF") && file.size() >= 12 &&
      std::memcmp(file.data() + 8, "WEBP", 4) == 0) {
    return "WebP";
  }
  if (file.size() >= 12 && std::memcmp(file.data() + 4, "ftyp", 4) == 0) return "HEIF or AVIF";
  return "";
}

}  // namespace

Result<Image> decode(std::span<const std::byte> file, const DecodeLimits& limits) {
  if (starts_with(file, "\xff\xd8\xff")) return decode_jpeg(file, limits);
  if (starts_with(file, "\x89PNG\r\n\x1a\n")) return decode_png(file, limits);
  const std::string_view foreign = foreign_format(file);
  if (!foreign.empty()) {
    return error::invalid_argument("the picture is {}; JPEG and PNG can be read", foreign);
  }
  return error::invalid_argument(
      "{} bytes that begin like neither JPEG nor PNG are no picture that can be read", file.size());
}

}  // namespace proa::image
