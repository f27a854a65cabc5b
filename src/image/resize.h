#pragma once

#include "image/image.h"

namespace proa::image {

enum class Filter : std::uint8_t { kBilinear, kBicubic };

// Resamples to `width` x `height` (both >= 1), antialiased: the filter widens with the reduction.
// Gives the bytes that Pillow's Image.resize gives: first along rows, then along columns (columns
// first when only the height shrinks and the width grows), with weights of 22 fractional bits and
// 8-bit pixels in between.
// Source: Pillow 13's results; its documented filters (bicubic a = -0.5).
Image resize(const Image& image, int width, int height, Filter filter);

// Resamples so that the shorter side has `side` pixels, the longer one in proportion (rounded
// down).
Image resize_short_side(const Image& image, int side, Filter filter);

// The middle `width` x `height` of the image; what lies outside of it is black. Half pixels go to
// the even neighbour, as in torchvision's CenterCrop.
Image centre_crop(const Image& image, int width, int height);

}  // namespace proa::image
