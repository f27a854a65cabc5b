#include "image/decode.h"

#include <cstring>
#include <string_view>

#include "image/decode_jpeg.h"
#include "image/decode_png.h"
#include "image/decode_webp.h"

namespace proa::image {
namespace {

bool starts_with(std::span<const std::byte> file, std::string_view magic) {
  return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

bool is_webp(std::span<const std::byte> file) {
  return starts_with(file, "RIFF") && file.size() >= 12 &&
         std::memcmp(file.data() + 8, "WEBP", 4) == 0;
}

// Formats that people send and that are not read: their name helps more than "unknown".
std::string_view foreign_format(std::span<const std::byte> file) {
  if (starts_with(file, "GIF8")) return "GIF";
  if (starts_with(file, "BM")) return "BMP";
  if (starts_with(file, "II*") || starts_with(file, std::string_view("MM\0*", 4))) return "TIFF";
  if (file.size() >= 12 && std::memcmp(file.data() + 4, "ftyp", 4) == 0) return "HEIF or AVIF";
  return "";
}

}  // namespace

Result<Decoded> decode_picture(std::span<const std::byte> file, const DecodeOptions& options) {
  if (file.size() > static_cast<std::size_t>(options.limits.max_file_bytes)) {
    return error::invalid_argument("the picture's file has {} bytes; at most {} are read",
                                   file.size(), options.limits.max_file_bytes);
  }
  if (starts_with(file, "\xff\xd8\xff")) return decode_jpeg(file, options);
  if (starts_with(file, "\x89PNG\r\n\x1a\n")) return decode_png(file, options.limits);
  if (is_webp(file)) return decode_webp(file, options.limits);
  if (file.empty()) return error::invalid_argument("the picture is empty: 0 bytes");
  const std::string_view foreign = foreign_format(file);
  if (!foreign.empty()) {
    return error::invalid_argument("the picture is {}; JPEG, PNG and WebP can be read", foreign);
  }
  return error::invalid_argument(
      "{} bytes that begin like neither JPEG, PNG nor WebP are no picture that can be read",
      file.size());
}

Result<Image> decode(std::span<const std::byte> file, const DecodeLimits& limits) {
  PROA_ASSIGN(Decoded decoded, decode_picture(file, {.limits = limits}));
  return std::move(decoded.image);
}

}  // namespace proa::image
