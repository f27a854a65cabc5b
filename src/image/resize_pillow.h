#pragma once

#include "image/resample_kernels.h"
#include "image/resize.h"

namespace proa::image {

// resize_rows() by Definition::kPillow.
void resize_pillow(const Image& image, Size to, const Window& window, Filter filter,
                   const RowSink& sink, const ResampleKernels& kernels = resample_kernels());

}  // namespace proa::image
