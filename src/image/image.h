#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/buffer.h"

namespace proa::image {

// A picture: 8-bit RGB, rows from the top without gaps, [height, width, 3].
// Threading: a plain value; copies share the pixels.
struct Image {
  int width = 0;
  int height = 0;
  Buffer pixels;  // height * width * kChannels bytes

  static constexpr int kChannels = 3;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width) * kChannels; }
  std::uint8_t* row(int y) {
    return reinterpret_cast<std::uint8_t*>(pixels.data()) +
           static_cast<std::size_t>(y) * row_bytes();
  }
  const std::uint8_t* row(int y) const { return const_cast<Image*>(this)->row(y); }
};

// An image of that size whose pixels are not set yet.
Image make_image(int width, int height);

}  // namespace proa::image
