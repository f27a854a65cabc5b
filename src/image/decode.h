#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "image/image.h"

namespace proa::image {

// What a picture from a stranger may cost. 3 bytes of memory a pixel.
struct DecodeLimits {
  std::int64_t max_pixels = 64 << 20;
};

// Decodes a JPEG or PNG file, told apart by their first bytes, to upright RGB:
//   - turned and mirrored as its EXIF orientation says;
//   - grey becomes three equal channels, CMYK JPEG is taken with Adobe's inverted inks;
//   - transparency is dropped, as Pillow's convert("RGB") does: the stored colours remain;
//   - of 16 bits a channel the upper 8 are kept.
// Colour profiles are not applied.
// Errors: kInvalidArgument with the reason: unknown format, damaged or cut short, too many pixels.
Result<Image> decode(std::span<const std::byte> file, const DecodeLimits& limits = {});

}  // namespace proa::image
