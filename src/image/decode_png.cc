#include "image/decode_png.h"

#include <memory>

#include "image/orientation.h"
#include "image/pixel_limit.h"
#include "spng.h"

namespace proa::image {
namespace {

struct Free {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, Free>;

// Text and profiles of a picture from a stranger.
constexpr std::size_t kMaxChunkBytes = 16 << 20;
constexpr std::size_t kMaxKeptBytes = 32 << 20;

Error damaged(int failure) {
  return error::invalid_argument("the PNG picture is damaged: {}", spng_strerror(failure));
}

// SPNG_FMT_RGB8 takes palettes and colours of every depth; grey ones come as they are.
bool is_grey(const spng_ihdr& header) {
  return header.color_type == SPNG_COLOR_TYPE_GRAYSCALE ||
         header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
}

Orientation orientation_of(spng_ctx* context) {
  spng_exif exif;
  if (spng_get_exif(context, &exif) != 0) return Orientation::kUpright;
  return exif_orientation({reinterpret_cast<const std::byte*>(exif.data), exif.length});
}

// RGBA, which every kind of PNG can be decoded to, without its alpha.
void drop_alpha(const std::uint8_t* from, Image& to) {
  std::uint8_t* out = to.row(0);
  const std::size_t pixels =
      static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height);
  for (std::size_t i = 0; i < pixels; ++i, from += 4, out += Image::kChannels) {
    out[0] = from[0];
    out[1] = from[1];
    out[2] = from[2];
  }
}

Status decode_pixels(spng_ctx* context, const spng_ihdr& header, Image& image) {
  if (!is_grey(header)) {
    const int failure =
        spng_decode_image(context, image.pixels.data(), image.pixels.size(), SPNG_FMT_RGB8, 0);
    if (failure != 0) return damaged(failure);
    return {};
  }
  const Buffer rgba = Buffer::allocate(image.pixels.size() / Image::kChannels * 4);
  const int failure = spng_decode_image(context, rgba.data(), rgba.size(), SPNG_FMT_RGBA8, 0);
  if (failure != 0) return damaged(failure);
  drop_alpha(reinterpret_cast<const std::uint8_t*>(rgba.data()), image);
  return {};
}

}  // namespace

Result<Decoded> decode_png(std::span<const std::byte> file, const DecodeLimits& limits) {
  const Context context(spng_ctx_new(0));
  if (context == nullptr) return error::resource_exhausted("no memory for a PNG decoder");
  spng_set_chunk_limits(context.get(), kMaxChunkBytes, kMaxKeptBytes);
  spng_set_png_buffer(context.get(), file.data(), file.size());
  spng_ihdr header;
  if (const int failure = spng_get_ihdr(context.get(), &header); failure != 0) {
    return damaged(failure);
  }
  PROA_TRY(check_pixel_count("PNG", header.width, header.height, file.size(), limits));
  Image image = make_image(static_cast<int>(header.width), static_cast<int>(header.height));
  PROA_TRY(decode_pixels(context.get(), header, image));
  return upright(std::move(image), orientation_of(context.get()));
}

}  // namespace proa::image
