#include "image/resize_opencv_area.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "image/row_ring.h"

namespace proa::image {
namespace {

constexpr int kChannels = Image::kChannels;

// A source pixel and its part of the area.
struct Share {
  int at;
  float weight;
};

// The shares of one pixel of an axis. Slivers below a thousandth of a pixel are left out.
std::vector<Share> shares_of(int from, double scale, int i) {
  constexpr double kSliver = 1e-3;
  std::vector<Share> shares;
  const double begin = i * scale, end = begin + scale;
  const double length = std::min(scale, from - begin);
  const int stop = std::min(static_cast<int>(std::floor(end)), from - 1);
  const int first = std::min(static_cast<int>(std::ceil(begin)), stop);
  if (first - begin > kSliver) {
    shares.push_back({first - 1, static_cast<float>((first - begin) / length)});
  }
  for (int at = first; at < stop; ++at) shares.push_back({at, static_cast<float>(1.0 / length)});
  if (end - stop > kSliver) {
    const double rest = std::min(std::min(end - stop, 1.0), length);
    shares.push_back({stop, static_cast<float>(rest / length)});
  }
  return shares;
}

double scale_of(int from, int to) { return 1.0 / (static_cast<double>(to) / from); }

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::clamp(std::lrint(value), 0L, 255L));
}

// Blocks of whole pixels: sums of integers.
void average_blocks(const Image& image, Size to, const Window& window, const RowSink& sink) {
  const int across = image.width / to.width, down = image.height / to.height;
  const float part = 1.0F / static_cast<float>(across * down);
  RowRing<std::uint8_t> out(static_cast<std::size_t>(window.width) * kChannels, 1);
  std::vector<std::int32_t> sums(static_cast<std::size_t>(window.width) * kChannels);
  for (int y = 0; y < window.height; ++y) {
    std::ranges::fill(sums, 0);
    for (int line = 0; line < down; ++line) {
      const std::uint8_t* from =
          image.row((window.y + y) * down + line) + window.x * across * kChannels;
      for (std::size_t i = 0; i < sums.size(); i += kChannels) {
        for (int x = 0; x < across; ++x, from += kChannels) {
          for (int c = 0; c < kChannels; ++c) sums[i + c] += from[c];
        }
      }
    }
    const bool four = across == 2 && down == 2;  // rounded up at the half, the others to even
    for (std::size_t i = 0; i < sums.size(); ++i) {
      out.row(0)[i] = four ? static_cast<std::uint8_t>((sums[i] + 2) >> 2)
                           : to_byte(static_cast<float>(sums[i]) * part);
    }
    sink(y, out.row(0));
  }
}

using Shares = std::vector<std::vector<Share>>;

Shares shares_of_axis(int from, int to, int begin, int end) {
  Shares shares;
  for (int i = begin; i < end; ++i) shares.push_back(shares_of(from, scale_of(from, to), i));
  return shares;
}

void weigh_row(const std::uint8_t* from, const Shares& columns, float* to) {
  for (const std::vector<Share>& shares : columns) {
    float sums[kChannels] = {0, 0, 0};
    for (const Share& share : shares) {
      for (int c = 0; c < kChannels; ++c) sums[c] += from[share.at * kChannels + c] * share.weight;
    }
    for (const float sum : sums) *to++ = sum;
  }
}

void average_shares(const Image& image, Size to, const Window& window, const RowSink& sink) {
  const Shares columns = shares_of_axis(image.width, to.width, window.x, window.x + window.width);
  const Shares lines = shares_of_axis(image.height, to.height, window.y, window.y + window.height);
  const std::size_t count = columns.size() * kChannels;
  std::vector<float> row(count), sums(count);
  RowRing<std::uint8_t> out(count, 1);
  int held = -1;  // the line in `row`: the last of a pixel is often the first of the next
  for (std::size_t y = 0; y < lines.size(); ++y) {
    std::ranges::fill(sums, 0.0F);
    for (const Share& line : lines[y]) {
      if (held != line.at) weigh_row(image.row(line.at), columns, row.data());
      held = line.at;
      for (std::size_t i = 0; i < count; ++i) sums[i] += line.weight * row[i];
    }
    std::ranges::transform(sums, out.row(0), to_byte);
    sink(static_cast<int>(y), out.row(0));
  }
}

}  // namespace

void resize_opencv_area(const Image& image, Size to, const Window& window, const RowSink& sink) {
  if (image.width % to.width == 0 && image.height % to.height == 0) {
    return average_blocks(image, to, window, sink);
  }
  average_shares(image, to, window, sink);
}

}  // namespace proa::image
