// Picture files, and what becomes of them. The first three bytes choose the transform.
#include "base/check.h"
#include "image/decode.h"
#include "image/transform.h"
#include "input.h"

namespace {

using namespace proa;

constexpr std::int64_t kMostPixels = 1 << 18;

image::Transform transform_of(std::uint8_t kind, std::uint8_t numbers, std::uint8_t side) {
  image::Transform transform;
  transform.fit = static_cast<image::Fit>(kind % 4);
  transform.method.filter = static_cast<image::Filter>(kind / 4 % 4);
  transform.method.definition = static_cast<image::Definition>(kind / 16 % 2);
  transform.pad_evenly = kind / 32 % 2 == 0;
  const int length = side % 64 + 1;
  transform.size = {length, side / 64 == 0 ? length : 70 - length};
  if (transform.fit != image::Fit::kLetterbox && kind / 64 % 2 == 1) {
    transform.crop = image::Size{length, (length + 1) / 2};
  }
  constexpr DataType kTypes[] = {DataType::kFp32, DataType::kFp16, DataType::kUint8};
  transform.tensor.type = kTypes[numbers % 3];
  transform.tensor.layout = static_cast<image::Layout>(numbers / 3 % 2);
  transform.tensor.channels = static_cast<image::Channels>(numbers / 6 % 3);
  return transform;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::uint8_t kind = input.byte(), numbers = input.byte(), side = input.byte();
  const image::Transform transform = transform_of(kind, numbers, side);
  const int reduction = 1 << (numbers / 64);
  const BufferView file = fuzz::own_block(input.rest(), false);
  Result<image::Decoded> decoded = image::decode_picture(
      file.bytes(), {.limits = {.max_pixels = kMostPixels},
                     .jpeg_reduction = [&](image::Size) { return reduction; }});
  PROA_CHECK(decoded || !decoded.error().message.empty(), "an error says something");
  if (!decoded) return 0;
  const image::Image& picture = decoded->image;
  PROA_CHECK(
      picture.pixels.size() == picture.row_bytes() * static_cast<std::size_t>(picture.height),
      "every row is there");
  PROA_CHECK(std::int64_t{picture.width} * picture.height <= kMostPixels, "pixels are bounded");
  const auto geometry = image::plan_geometry(transform, decoded->original, kMostPixels);
  PROA_CHECK(geometry || !geometry.error().message.empty(), "an error says something");
  if (!geometry) return 0;
  const auto bytes =
      dense_byte_size(transform.tensor.type,
                      transform.tensor.extents(geometry->output.width, geometry->output.height));
  PROA_CHECK(bytes.has_value(), "the tensor's size is known");
  const BufferView tensor = fuzz::own_block(std::string(*bytes, '\0'), false);
  image::transform_into(std::move(decoded->image), transform, *geometry, tensor.data());
  return 0;
}
