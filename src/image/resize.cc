#include "image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace proa::image {
namespace {

constexpr int kFractionBits = 22;

double bilinear(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

// Keys' cubic with a = -0.5.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// The pixels that make one pixel of the result along an axis, and their weights.
struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
};

std::int32_t to_fixed(double weight) {
  const double scaled = weight * (1 << kFractionBits);
  return static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

std::vector<Taps> make_taps(int from, int to, Filter filter) {
  double (*const kernel)(double) = filter == Filter::kBicubic ? bicubic : bilinear;
  const double scale = static_cast<double>(from) / to;
  const double stretch = std::max(scale, 1.0);
  const double support = (filter == Filter::kBicubic ? 2.0 : 1.0) * stretch;
  std::vector<Taps> taps(static_cast<std::size_t>(to));
  std::vector<double> weights;
  for (int i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(0, static_cast<int>(centre - support + 0.5));
    const int end = std::min(from, static_cast<int>(centre + support + 0.5));
    weights.clear();
    double sum = 0;
    for (int x = first; x < end; ++x) {
      weights.push_back(kernel((x - centre + 0.5) * (1.0 / stretch)));
      sum += weights.back();
    }
    taps[i].first = first;
    for (const double weight : weights) {
      taps[i].weights.push_back(to_fixed(sum != 0 ? weight / sum : weight));
    }
  }
  return taps;
}

std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

constexpr std::int32_t kHalf = 1 << (kFractionBits - 1);

void resample_row(const std::uint8_t* from, const std::vector<Taps>& taps, std::uint8_t* to) {
  for (const Taps& tap : taps) {
    std::int32_t sums[Image::kChannels] = {kHalf, kHalf, kHalf};
    const std::uint8_t* pixel = from + tap.first * Image::kChannels;
    for (const std::int32_t weight : tap.weights) {
      for (int c = 0; c < Image::kChannels; ++c) sums[c] += pixel[c] * weight;
      pixel += Image::kChannels;
    }
    for (const std::int32_t sum : sums) *to++ = to_byte(sum);
  }
}

// One row of the result out of rows of `image`; `sums` is scratch of row_bytes() numbers.
void resample_column(const Image& image, const Taps& tap, std::vector<std::int32_t>& sums,
                     std::uint8_t* to) {
  std::ranges::fill(sums, kHalf);
  for (std::size_t k = 0; k < tap.weights.size(); ++k) {
    const std::uint8_t* row = image.row(tap.first + static_cast<int>(k));
    const std::int32_t weight = tap.weights[k];
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i] * weight;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) to[i] = to_byte(sums[i]);
}

Image resize_rows(const Image& image, int width, Filter filter) {
  if (width == image.width) return image;
  const std::vector<Taps> taps = make_taps(image.width, width, filter);
  Image result = make_image(width, image.height);
  for (int y = 0; y < image.height; ++y) resample_row(image.row(y), taps, result.row(y));
  return result;
}

Image resize_columns(const Image& image, int height, Filter filter) {
  if (height == image.height) return image;
  const std::vector<Taps> taps = make_taps(image.height, height, filter);
  Image result = make_image(image.width, height);
  std::vector<std::int32_t> sums(image.row_bytes());
  for (int y = 0; y < height; ++y) resample_column(image, taps[y], sums, result.row(y));
  return result;
}

// Half of an odd difference, to the even neighbour.
int half_to_even(int difference) { return static_cast<int>(std::nearbyint(difference / 2.0)); }

}  // namespace

Image resize(const Image& image, int width, int height, Filter filter) {
  // Less work, and Pillow's order: the bytes in between are rounded and clipped.
  if (width > image.width && height < image.height) {
    return resize_rows(resize_columns(image, height, filter), width, filter);
  }
  return resize_columns(resize_rows(image, width, filter), height, filter);
}

Image resize_short_side(const Image& image, int side, Filter filter) {
  const std::int64_t shorter = std::min(image.width, image.height);
  const auto scaled = [&](int length) {
    return std::max(1, static_cast<int>(std::int64_t{length} * side / shorter));
  };
  return resize(image, scaled(image.width), scaled(image.height), filter);
}

Image centre_crop(const Image& image, int width, int height) {
  const int left = half_to_even(image.width - width);
  const int top = half_to_even(image.height - height);
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
