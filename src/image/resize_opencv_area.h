#pragma once

#include "image/resize.h"

namespace proa::image {

// Averages areas as OpenCV does when neither side grows.
void resize_opencv_area(const Image& image, Size to, const Window& window, const RowSink& sink);

}  // namespace proa::image
