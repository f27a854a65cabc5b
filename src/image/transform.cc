#include "image/transform.h"

#include <algorithm>
#include <cmath>

namespace proa::image {
namespace {

// No picture's side is longer.
constexpr std::int64_t kMaxSide = 1 << 24;

// The picture's luma in all three channels.
void make_grey(Image& image, Definition definition) {
  if (!image.pixels.unique()) {
    Image copy = make_image(image.width, image.height);
    std::ranges::copy(image.pixels.bytes(), copy.pixels.bytes().begin());
    image = std::move(copy);
  }
  const bool pillow = definition == Definition::kPillow;
  const int red = pillow ? 19595 : 9798, green = pillow ? 38470 : 19235;
  const int blue = pillow ? 7471 : 3735, bits = pillow ? 16 : 15;
  std::uint8_t* pixel = image.row(0);
  const std::uint8_t* const end = pixel + image.pixels.size();
  for (; pixel < end; pixel += Image::kChannels) {
    const int sum = pixel[0] * red + pixel[1] * green + pixel[2] * blue + (1 << (bits - 1));
    pixel[0] = pixel[1] = pixel[2] = static_cast<std::uint8_t>(sum >> bits);
  }
}

// Rounded half to even, as Python rounds.
int scaled(int length, double by) {
  return std::max(1, static_cast<int>(std::nearbyint(length * by)));
}

Result<Size> resized_size(const Transform& transform, Size original) {
  switch (transform.fit) {
    case Fit::kNone:
      return original;
    case Fit::kExact:
      return transform.size;
    case Fit::kLetterbox: {
      const double by = std::min(static_cast<double>(transform.size.width) / original.width,
                                 static_cast<double>(transform.size.height) / original.height);
      return Size{std::min(transform.size.width, scaled(original.width, by)),
                  std::min(transform.size.height, scaled(original.height, by))};
    }
    case Fit::kShorterSide:
      break;
  }
  const std::int64_t shorter = std::min(original.width, original.height);
  const std::int64_t side = transform.size.width;
  const std::int64_t width = original.width * side / shorter;
  const std::int64_t height = original.height * side / shorter;
  if (std::max(width, height) > kMaxSide) {
    return error::invalid_argument(
        "the picture is {} x {} pixels: with a shorter side of {} the longer one would have {}",
        original.width, original.height, side, std::max(width, height));
  }
  return Size{static_cast<int>(width), static_cast<int>(height)};
}

Status place_window(const Transform& transform, Size original, Geometry& geometry) {
  const Size& resized = geometry.resized;
  geometry.window = {0, 0, resized.width, resized.height};
  geometry.output = resized;
  if (transform.fit == Fit::kLetterbox) {
    geometry.output = transform.size;
    if (transform.pad_evenly) {
      geometry.x = (transform.size.width - resized.width) / 2;
      geometry.y = (transform.size.height - resized.height) / 2;
    }
  } else if (transform.crop) {
    const Size& crop = *transform.crop;
    if (crop.width > resized.width || crop.height > resized.height) {
      return error::invalid_argument(
          "the crop of {} x {} is larger than the picture, which is {} x {}{}", crop.width,
          crop.height, original.width, original.height,
          resized == original ? std::string()
                              : fmt::format(", resized to {} x {}", resized.width, resized.height));
    }
    geometry.window = {centre_offset(resized.width, crop.width),
                       centre_offset(resized.height, crop.height), crop.width, crop.height};
    geometry.output = crop;
  }
  return {};
}

}  // namespace

Result<Geometry> plan_geometry(const Transform& transform, Size original, std::int64_t max_pixels) {
  Geometry geometry;
  PROA_ASSIGN(geometry.resized, resized_size(transform, original));
  PROA_TRY(place_window(transform, original, geometry));
  if (geometry.output.width > max_pixels / geometry.output.height) {
    return error::invalid_argument(
        "the picture is {} x {} pixels and would be resized to {} x {}; at most {} pixels are made",
        original.width, original.height, geometry.output.width, geometry.output.height, max_pixels);
  }
  geometry.scale_x = static_cast<double>(geometry.resized.width) / original.width;
  geometry.scale_y = static_cast<double>(geometry.resized.height) / original.height;
  geometry.offset_x = geometry.x - geometry.window.x;
  geometry.offset_y = geometry.y - geometry.window.y;
  return geometry;
}

Size output_size(const Transform& transform) {
  if (transform.crop) return *transform.crop;
  if (transform.fit == Fit::kExact || transform.fit == Fit::kLetterbox) return transform.size;
  return {};
}

void transform_into(Image image, const Transform& transform, const Geometry& geometry,
                    std::byte* to) {
  if (transform.tensor.channels == Channels::kGrey) make_grey(image, transform.method.definition);
  TensorWriter writer(transform.tensor, geometry.output, to);
  const Window& window = geometry.window;
  const Size output = geometry.output;
  const int right = geometry.x + window.width, below = geometry.y + window.height;
  std::vector<std::uint8_t> padding;
  if (geometry.x > 0 || geometry.y > 0 || right < output.width || below < output.height) {
    // A row with the room behind it that TensorWriter asks for.
    for (int i = 0; i < output.width + 32; ++i) {
      padding.insert(padding.end(), transform.padding.begin(), transform.padding.end());
    }
    for (int y = 0; y < geometry.y; ++y) writer.write(0, y, output.width, padding.data());
    for (int y = below; y < output.height; ++y) writer.write(0, y, output.width, padding.data());
  }
  resize_rows(image, geometry.resized, window, transform.method,
              [&](int y, const std::uint8_t* row) {
                const int line = geometry.y + y;
                if (geometry.x > 0) writer.write(0, line, geometry.x, padding.data());
                writer.write(geometry.x, line, window.width, row);
                if (right < output.width) {
                  writer.write(right, line, output.width - right, padding.data());
                }
              });
}

}  // namespace proa::image
