#include "image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "image/resize_opencv.h"
#include "image/resize_pillow.h"

namespace proa::image {

void resize_rows(const Image& image, Size to, const Window& window, const Method& method,
                 const RowSink& sink) {
  if (to == Size{image.width, image.height}) {
    for (int y = 0; y < window.height; ++y) {
      sink(y, image.row(window.y + y) + window.x * Image::kChannels);
    }
  } else if (method.definition == Definition::kOpenCv) {
    resize_opencv(image, to, window, method.filter, sink);
  } else {
    resize_pillow(image, to, window, method.filter, sink);
  }
}

Image resize(const Image& image, int width, int height, Filter filter) {
  if (width == image.width && height == image.height) return image;
  Image result = make_image(width, height);
  resize_rows(
      image, {width, height}, {0, 0, width, height}, {filter, Definition::kPillow},
      [&](int y, const std::uint8_t* row) { std::memcpy(result.row(y), row, result.row_bytes()); });
  return result;
}

Image resize_short_side(const Image& image, int side, Filter filter) {
  const std::int64_t shorter = std::min(image.width, image.height);
  const auto scaled = [&](int length) {
    return std::max(1, static_cast<int>(std::int64_t{length} * side / shorter));
  };
  return resize(image, scaled(image.width), scaled(image.height), filter);
}

int centre_offset(int outer, int inner) {
  return static_cast<int>(std::nearbyint((outer - inner) / 2.0));
}

Image centre_crop(const Image& image, int width, int height) {
  const int left = centre_offset(image.width, width);
  const int top = centre_offset(image.height, height);
  Image result = make_image(width, height);
  std::memset(result.pixels.data(), 0, result.pixels.size());
  const int first = std::max(0, -left);
  const int end = std::min(width, image.width - left);
  for (int y = 0; y < height; ++y) {
    const int from = y + top;
    if (from < 0 || from >= image.height || first >= end) continue;
    std::memcpy(result.row(y) + first * Image::kChannels,
                image.row(from) + (left + first) * Image::kChannels,
                static_cast<std::size_t>(end - first) * Image::kChannels);
  }
  return result;
}

}  // namespace proa::image
