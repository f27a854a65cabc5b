#include "image/resize_opencv.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <vector>

#include "image/resize_opencv_area.h"
#include "image/row_ring.h"

namespace proa::image {
namespace {

constexpr int kChannels = Image::kChannels;
constexpr int kScaleBits = 11;  // of the weights
constexpr int kMostTaps = 4;

std::size_t channels_of(const Window& window) {
  return static_cast<std::size_t>(window.width) * kChannels;
}

// The neighbours of each pixel of the result along one axis and their weights in 1/2048.
struct Neighbours {
  int taps = 2;
  std::vector<int> at;                // [pixel][taps], inside the picture
  std::vector<std::int16_t> weights;  // the same
};

// Where a pixel of the result lies: the source pixel before it and the way to the next.
struct Place {
  int before;
  float part;
};

Place centre_place(int i, double scale) {
  const auto at = static_cast<float>((i + 0.5) * scale - 0.5);
  const int before = static_cast<int>(std::floor(at));
  return {before, at - static_cast<float>(before)};
}

// Area that grows: pixels keep their size, only those across an edge are mixed.
Place area_place(int i, double scale, double inverse) {
  const int before = static_cast<int>(std::floor(i * scale));
  const auto part = static_cast<float>((i + 1) - (before + 1) * inverse);
  return {before, part <= 0 ? 0.0F : part - std::floor(part)};
}

// Keys' cubic with a = -0.75.
std::array<float, kMostTaps> cubic_weights(float x) {
  constexpr float a = -0.75F;
  std::array<float, kMostTaps> weights;
  weights[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  weights[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  weights[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  weights[3] = 1.0F - weights[0] - weights[1] - weights[2];
  return weights;
}

Neighbours find_neighbours(int from, int to, int begin, int end, Filter filter) {
  const double inverse = static_cast<double>(to) / from, scale = 1.0 / inverse;
  Neighbours found;
  found.taps = filter == Filter::kBicubic ? 4 : 2;
  for (int i = begin; i < end; ++i) {
    const Place place =
        filter == Filter::kArea ? area_place(i, scale, inverse) : centre_place(i, scale);
    const std::array<float, kMostTaps> weights =
        filter == Filter::kBicubic ? cubic_weights(place.part)
                                   : std::array<float, kMostTaps>{1.0F - place.part, place.part};
    for (int k = 0; k < found.taps; ++k) {
      found.at.push_back(std::clamp(place.before - found.taps / 2 + 1 + k, 0, from - 1));
      found.weights.push_back(
          static_cast<std::int16_t>(std::lrint(weights[k] * (1 << kScaleBits))));
    }
  }
  return found;
}

template <int kTaps>
void mix_row(const std::uint8_t* from, const Neighbours& columns, std::int32_t* to) {
  const std::size_t pixels = columns.at.size() / kTaps;
  for (std::size_t i = 0; i < pixels; ++i, to += kChannels) {
    const int* const at = columns.at.data() + i * kTaps;
    const std::int16_t* const weights = columns.weights.data() + i * kTaps;
    for (int c = 0; c < kChannels; ++c) {
      std::int32_t sum = 0;
      for (int k = 0; k < kTaps; ++k) sum += from[at[k] * kChannels + c] * weights[k];
      to[c] = sum;
    }
  }
}

// OpenCV drops bits on the way; so its result is not the nearest one.
void mix_two(const std::int32_t* const* rows, const std::int16_t* weights, std::uint8_t* to,
             std::size_t count) {
  const std::int32_t* const upper = rows[0];
  const std::int32_t* const lower = rows[1];
  for (std::size_t i = 0; i < count; ++i) {
    const int sum = ((weights[0] * (upper[i] >> 4)) >> 16) + ((weights[1] * (lower[i] >> 4)) >> 16);
    to[i] = static_cast<std::uint8_t>((sum + 2) >> 2);
  }
}

// In the order of OpenCV's vector code, which computes here in FP32; halves go to the even number.
void mix_four(const std::int32_t* const* rows, const std::int16_t* weights, std::uint8_t* to,
              std::size_t count) {
  constexpr float kScale = 1.0F / (1 << (2 * kScaleBits));
  float parts[kMostTaps];
  for (int k = 0; k < kMostTaps; ++k) parts[k] = static_cast<float>(weights[k]) * kScale;
  for (std::size_t i = 0; i < count; ++i) {
    float sum = static_cast<float>(rows[3][i]) * parts[3];
    for (int k = 2; k >= 0; --k) sum = static_cast<float>(rows[k][i]) * parts[k] + sum;
    to[i] = static_cast<std::uint8_t>(std::clamp(std::lrint(sum), 0L, 255L));
  }
}

void resize_mixing(const Image& image, Size to, const Window& window, Filter filter,
                   const RowSink& sink) {
  const Neighbours columns =
      find_neighbours(image.width, to.width, window.x, window.x + window.width, filter);
  const Neighbours lines =
      find_neighbours(image.height, to.height, window.y, window.y + window.height, filter);
  const int taps = lines.taps;
  const std::size_t count = channels_of(window);
  RowRing<std::int32_t> mixed(count, taps);
  std::vector<int> held(static_cast<std::size_t>(taps), -1);  // which row lies in each place
  RowRing<std::uint8_t> out(count, 1);
  for (int y = 0; y < window.height; ++y) {
    const std::int32_t* rows[kMostTaps];
    for (int k = 0; k < taps; ++k) {
      const int line = lines.at[y * taps + k];
      if (held[line % taps] != line) {
        if (taps == 4) {
          mix_row<4>(image.row(line), columns, mixed.row(line));
        } else {
          mix_row<2>(image.row(line), columns, mixed.row(line));
        }
        held[line % taps] = line;
      }
      rows[k] = mixed.row(line);
    }
    (taps == 4 ? mix_four : mix_two)(rows, lines.weights.data() + y * taps, out.row(0), count);
    sink(y, out.row(0));
  }
}

void resize_nearest(const Image& image, Size to, const Window& window, const RowSink& sink) {
  const auto source = [](int from, int to_length, int i) {
    const double scale = 1.0 / (static_cast<double>(to_length) / from);
    return std::min(static_cast<int>(std::floor(i * scale)), from - 1);
  };
  RowRing<std::uint8_t> out(channels_of(window), 1);
  for (int y = 0; y < window.height; ++y) {
    const std::uint8_t* const from = image.row(source(image.height, to.height, window.y + y));
    std::uint8_t* pixel = out.row(0);
    for (int x = 0; x < window.width; ++x) {
      const int at = source(image.width, to.width, window.x + x) * kChannels;
      for (int c = 0; c < kChannels; ++c) *pixel++ = from[at + c];
    }
    sink(y, out.row(0));
  }
}

}  // namespace

void resize_opencv(const Image& image, Size to, const Window& window, Filter filter,
                   const RowSink& sink) {
  if (filter == Filter::kNearest) return resize_nearest(image, to, window, sink);
  const bool shrinks = to.width <= image.width && to.height <= image.height;
  const bool halves = to.width * 2 == image.width && to.height * 2 == image.height;
  // Halving by bilinear is the same as by area, and OpenCV computes it so.
  if ((filter == Filter::kArea && shrinks) || (filter == Filter::kBilinear && halves)) {
    return resize_opencv_area(image, to, window, sink);
  }
  resize_mixing(image, to, window, filter, sink);
}

}  // namespace proa::image
