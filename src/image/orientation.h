#pragma once

#include <cstdint>
#include <span>

#include "image/decode.h"

namespace proa::image {

// How the stored rows and columns have to be turned to stand upright; the values are EXIF's.
// Source: EXIF 2.32, tag 0x0112.
enum class Orientation : std::uint8_t {
  kUpright = 1,
  kMirrored = 2,
  kUpsideDown = 3,
  kMirroredUpsideDown = 4,
  kTransposed = 5,
  kTurnedLeft = 6,  // is put right by a quarter turn clockwise
  kTransverse = 7,
  kTurnedRight = 8,  // ... counter-clockwise
};

// The orientation in an EXIF block (a TIFF header and its first directory); kUpright when there is
// none, or when the block makes no sense.
Orientation exif_orientation(std::span<const std::byte> exif);

// That of a JPEG file's EXIF segment.
Orientation jpeg_orientation(std::span<const std::byte> file);

// That of a WebP file's EXIF chunk.
Orientation webp_orientation(std::span<const std::byte> file);

// Whether width and height change places when it is put right.
inline bool swaps_sides(Orientation orientation) { return orientation >= Orientation::kTransposed; }

// `image` itself when it is upright, else a turned copy.
Image turn_upright(Image image, Orientation orientation);

// What a decoder gives for a picture of full size.
Decoded upright(Image image, Orientation orientation);

}  // namespace proa::image
