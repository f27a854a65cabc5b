#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/result.h"
#include "image/decode.h"

namespace proa::image {

// The announced size is checked before memory is taken for it.
inline Status check_pixel_count(std::string_view format, std::int64_t width, std::int64_t height,
                                std::size_t file_bytes, const DecodeLimits& limits) {
  constexpr std::int64_t kMaxSide = std::numeric_limits<int>::max() / 8;
  if (width < 1 || height < 1) {
    return error::invalid_argument("the {} picture is damaged: its header tells no size", format);
  }
  if (width > kMaxSide || height > kMaxSide || width > limits.max_pixels / height) {
    return error::invalid_argument("the {} picture is {} x {} pixels; at most {} pixels are read",
                                   format, width, height, limits.max_pixels);
  }
  const std::int64_t pixels = width * height;
  const std::int64_t ratio = pixels * Image::kChannels / static_cast<std::int64_t>(file_bytes);
  if (pixels > DecodeLimits::kRatioFreePixels && ratio > limits.max_ratio) {
    return error::invalid_argument(
        "the {} picture is {} x {} pixels in {} bytes, {} bytes of pixels for each; at most {} are "
        "unpacked",
        format, width, height, file_bytes, ratio, limits.max_ratio);
  }
  return {};
}

}  // namespace proa::image
