#pragma once

#include "image/resize.h"

namespace proa::image {

// resize_rows() by Definition::kOpenCv.
void resize_opencv(const Image& image, Size to, const Window& window, Filter filter,
                   const RowSink& sink);

}  // namespace proa::image
