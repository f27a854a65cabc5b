#include "image/resize_pillow.h"

#include <algorithm>
#include <vector>

#include "image/row_ring.h"

namespace proa::image {
namespace {

constexpr int kChannels = Image::kChannels;

std::size_t row_bytes(const Window& window) {
  return static_cast<std::size_t>(window.width) * kChannels;
}

// Rows of the source, resampled along x when they are asked for; a few at a time.
class ResampledRows {
 public:
  // `most`: how many rows are looked at together. `end`: the first row that is never asked for.
  ResampledRows(const Image& image, RowTaps taps, int most, int end, const ResampleKernels& kernels)
      : image_(image),
        taps_(std::move(taps)),
        end_(end),
        kernels_(kernels),
        ring_(taps_.first.size() * kChannels, most + ResampleKernels::kRows) {}

  // Makes rows [first, stop) available; `first` never goes back.
  void need(int first, int stop) {
    made_ = std::max(made_, first);
    while (made_ < stop) {
      const std::uint8_t* from[ResampleKernels::kRows];
      std::uint8_t* to[ResampleKernels::kRows];
      const int count = std::min(ResampleKernels::kRows, end_ - made_);
      for (int i = 0; i < count; ++i) {
        from[i] = image_.row(made_ + i);
        to[i] = ring_.row(made_ + i);
      }
      kernels_.rows(from, count, taps_, to, scratch_);
      made_ += count;
    }
  }

  const std::uint8_t* row(int y) { return ring_.row(y); }

 private:
  const Image& image_;
  const RowTaps taps_;
  const int end_;
  const ResampleKernels& kernels_;
  RowRing<std::uint8_t> ring_;
  std::vector<std::uint8_t> scratch_;
  int made_ = 0;
};

class PillowResize {
 public:
  PillowResize(const Image& image, Size to, const Window& window, Filter filter,
               const ResampleKernels& kernels)
      : image_(image), to_(to), window_(window), filter_(filter), kernels_(kernels) {}

  void run(const RowSink& sink) const {
    // Less work, and Pillow's order: the bytes in between are rounded and clipped.
    if (to_.width > image_.width && to_.height < image_.height) return columns_first(sink);
    if (to_.width == image_.width) return columns_only(sink);
    if (to_.height == image_.height) return rows_only(sink);
    rows_first(sink);
  }

 private:
  Taps column_taps() const {
    return make_taps(image_.height, to_.height, window_.y, window_.y + window_.height, filter_);
  }
  RowTaps row_taps() const {
    return make_row_taps(
        make_taps(image_.width, to_.width, window_.x, window_.x + window_.width, filter_),
        image_.width);
  }

  void rows_first(const RowSink& sink) const {
    const Taps taps = column_taps();
    ResampledRows rows(image_, row_taps(), std::ranges::max(taps.count),
                       taps.first.back() + taps.count.back(), kernels_);
    std::vector<const std::uint8_t*> from;
    RowRing<std::uint8_t> out(row_bytes(window_), 1);
    for (int y = 0; y < window_.height; ++y) {
      const int first = taps.first[y], count = taps.count[y];
      rows.need(first, first + count);
      from.clear();
      for (int k = 0; k < count; ++k) from.push_back(rows.row(first + k));
      kernels_.columns(from.data(), taps.weights_of(y), count, out.row(0), row_bytes(window_));
      sink(y, out.row(0));
    }
  }

  void rows_only(const RowSink& sink) const {
    ResampledRows rows(image_, row_taps(), 1, window_.y + window_.height, kernels_);
    for (int y = 0; y < window_.height; ++y) {
      rows.need(window_.y + y, window_.y + y + 1);
      sink(y, rows.row(window_.y + y));
    }
  }

  // Row y of the columns' pass over [x, x + width) of the source.
  void resample_columns(const Taps& taps, int y, int x, int width, std::uint8_t* to) const {
    std::vector<const std::uint8_t*> from;
    for (int k = 0; k < taps.count[y]; ++k) {
      from.push_back(image_.row(taps.first[y] + k) + x * kChannels);
    }
    kernels_.columns(from.data(), taps.weights_of(y), taps.count[y], to,
                     static_cast<std::size_t>(width) * kChannels);
  }

  void columns_only(const RowSink& sink) const {
    const Taps taps = column_taps();
    RowRing<std::uint8_t> out(row_bytes(window_), 1);
    for (int y = 0; y < window_.height; ++y) {
      resample_columns(taps, y, window_.x, window_.width, out.row(0));
      sink(y, out.row(0));
    }
  }

  void columns_first(const RowSink& sink) const {
    const Taps taps = column_taps();
    const RowTaps along = row_taps();
    RowRing<std::uint8_t> between(image_.row_bytes(), 1);
    RowRing<std::uint8_t> out(row_bytes(window_), 1);
    const std::uint8_t* const from = between.row(0);
    std::uint8_t* const to = out.row(0);
    std::vector<std::uint8_t> scratch;
    for (int y = 0; y < window_.height; ++y) {
      resample_columns(taps, y, 0, image_.width, between.row(0));
      kernels_.rows(&from, 1, along, &to, scratch);
      sink(y, to);
    }
  }

  const Image& image_;
  const Size to_;
  const Window& window_;
  const Filter filter_;
  const ResampleKernels& kernels_;
};

// The source pixels of [begin, end) of an axis. The sum runs on, as Pillow's does.
std::vector<int> nearest_pixels(int from, int to, int begin, int end) {
  const double scale = static_cast<double>(from) / to;
  double at = scale * 0.5;
  std::vector<int> pixels;
  for (int i = 0; i < end; ++i, at += scale) {
    if (i >= begin) pixels.push_back(std::min(static_cast<int>(at), from - 1));
  }
  return pixels;
}

void resize_nearest(const Image& image, Size to, const Window& window, const RowSink& sink) {
  const auto columns = nearest_pixels(image.width, to.width, window.x, window.x + window.width);
  const auto rows = nearest_pixels(image.height, to.height, window.y, window.y + window.height);
  RowRing<std::uint8_t> out(row_bytes(window), 1);
  for (int y = 0; y < window.height; ++y) {
    const std::uint8_t* const from = image.row(rows[y]);
    std::uint8_t* pixel = out.row(0);
    for (const int x : columns) {
      for (int c = 0; c < kChannels; ++c) *pixel++ = from[x * kChannels + c];
    }
    sink(y, out.row(0));
  }
}

}  // namespace

void resize_pillow(const Image& image, Size to, const Window& window, Filter filter,
                   const RowSink& sink, const ResampleKernels& kernels) {
  if (filter == Filter::kNearest) return resize_nearest(image, to, window, sink);
  PillowResize(image, to, window, filter, kernels).run(sink);
}

}  // namespace proa::image
