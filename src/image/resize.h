#pragma once

#include <cstdint>
#include <functional>

#include "image/image.h"

namespace proa::image {

enum class Filter : std::uint8_t { kNearest, kBilinear, kBicubic, kArea };

// Whose arithmetic a resized picture has; the same filter gives different pixels in each.
enum class Definition : std::uint8_t {
  // Pillow's Image.resize, byte for byte. Antialiased: the filter widens with the reduction
  // (bicubic a = -0.5; area is Pillow's BOX). First along rows, then along columns (columns first
  // when only the height shrinks and the width grows), with weights of 22 fractional bits and 8-bit
  // pixels in between.
  // Source: Pillow 13's results and documented filters.
  kPillow,
  // OpenCV's cv::resize of 8-bit pixels. Plain: 2 or 4 neighbours whatever the reduction (bicubic
  // a = -0.75), pixel centres at .5, edges repeated; area averages when the picture shrinks.
  // Source: OpenCV 4.14's results; docs/image.md says how near.
  kOpenCv,
};

struct Size {
  int width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

// A rectangle of a picture.
struct Window {
  int x = 0, y = 0, width = 0, height = 0;
};

struct Method {
  Filter filter = Filter::kBicubic;
  Definition definition = Definition::kPillow;
};

// Takes a row of 8-bit RGB pixels: row `y` of the window. The pixels are valid during the call, and
// 64 bytes behind them may be read.
using RowSink = std::function<void(int y, const std::uint8_t* row)>;

// Computes `window` of what `image` becomes when it is resized to `to` (both sides >= 1) and gives
// its rows to `sink` from top to bottom. Only what the window needs is computed.
void resize_rows(const Image& image, Size to, const Window& window, const Method& method,
                 const RowSink& sink);

// The whole picture, resized by Pillow's definition.
Image resize(const Image& image, int width, int height, Filter filter);

// Resamples so that the shorter side has `side` pixels, the longer one in proportion (rounded
// down).
Image resize_short_side(const Image& image, int side, Filter filter);

// The middle `width` x `height` of the image; what lies outside of it is black. Half pixels go to
// the even neighbour, as in torchvision's CenterCrop.
Image centre_crop(const Image& image, int width, int height);

// Where a centred crop of `inner` pixels begins in `outer` ones; negative when it is larger.
int centre_offset(int outer, int inner);

}  // namespace proa::image
