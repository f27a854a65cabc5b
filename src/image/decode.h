#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "image/image.h"
#include "image/resize.h"

namespace proa::image {

// What a picture from a stranger may cost. Decoding takes 3 bytes of memory a pixel, a progressive
// JPEG up to 9, a grey or CMYK picture 7.
struct DecodeLimits {
  std::int64_t max_pixels = 64 << 20;
  std::int64_t max_file_bytes = 64 << 20;
  // Bytes of pixels (3 each) for one byte of the file. Pictures of up to kRatioFreePixels may be
  // made of anything: a white PNG of 1 KB is no attack.
  std::int64_t max_ratio = 2000;
  static constexpr std::int64_t kRatioFreePixels = 1 << 20;
};

struct DecodeOptions {
  DecodeLimits limits;
  // Asked for every JPEG, with its upright size: its sides are divided by the answer (1, 2, 4 or
  // 8, rounded up) while it is decoded, which is faster and gives other pixels than resizing. Null
  // = always 1.
  std::function<int(Size original)> jpeg_reduction;
};

struct Decoded {
  Image image;
  Size original;  // upright, before any reduction
};

// Decodes a JPEG, PNG or WebP file, told apart by their first bytes, to upright RGB:
//   - turned and mirrored as its EXIF orientation says;
//   - grey becomes three equal channels, CMYK and YCCK JPEG are taken with Adobe's inverted inks;
//   - transparency is dropped, as Pillow's convert("RGB") does: the stored colours remain;
//   - of 16 bits a channel the upper 8 are kept.
// Colour profiles are not applied; animations are refused.
// Errors: kInvalidArgument with the reason: unknown format, damaged or cut short, beyond a limit.
Result<Decoded> decode_picture(std::span<const std::byte> file, const DecodeOptions& options);

// The same without reductions.
Result<Image> decode(std::span<const std::byte> file, const DecodeLimits& limits = {});

}  // namespace proa::image
