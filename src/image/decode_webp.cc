#include "image/decode_webp.h"

#include <string_view>

#include "image/orientation.h"
#include "image/pixel_limit.h"
#include "webp/decode.h"

namespace proa::image {
namespace {

std::string_view reason(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "not enough memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it uses a feature that is not known";
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "it is cut short";
    default:
      return "its data make no sense";
  }
}

Error damaged(VP8StatusCode status) {
  return error::invalid_argument("the WebP picture is damaged: {}", reason(status));
}

}  // namespace

Result<Decoded> decode_webp(std::span<const std::byte> file, const DecodeLimits& limits) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    return error::internal("libwebp is of another version than its headers");
  }
  const VP8StatusCode looked = WebPGetFeatures(bytes, file.size(), &config.input);
  if (looked != VP8_STATUS_OK) return damaged(looked);
  if (config.input.has_animation != 0) {
    return error::invalid_argument("the WebP picture is an animation; send one frame of it");
  }
  PROA_TRY(check_pixel_count("WebP", config.input.width, config.input.height, file.size(), limits));
  Image image = make_image(config.input.width, config.input.height);
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = image.row(0);
  config.output.u.RGBA.stride = static_cast<int>(image.row_bytes());
  config.output.u.RGBA.size = image.pixels.size();
  const VP8StatusCode decoded = WebPDecode(bytes, file.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (decoded != VP8_STATUS_OK) return damaged(decoded);
  return upright(std::move(image), webp_orientation(file));
}

}  // namespace proa::image
