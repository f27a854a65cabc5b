#include "image/image.h"

namespace proa::image {

Image make_image(int width, int height) {
  Image image{width, height, {}};
  image.pixels = Buffer::allocate(image.row_bytes() * static_cast<std::size_t>(height));
  return image;
}

}  // namespace proa::image
