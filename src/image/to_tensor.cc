#include "image/to_tensor.h"

#include <cstring>

#include "image/writer_kernels.h"

namespace proa::image {
namespace {

constexpr int kChannels = Image::kChannels;
constexpr std::size_t kTail = 64;

std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >>
                                   16);
}

template <class Value>
const WriterKernels<Value>& kernels_for() {
  if constexpr (std::is_same_v<Value, float>) {
    return writer_kernels().fp32;
  } else {
    return writer_kernels().fp16;
  }
}

}  // namespace

Shape TensorSpec::extents(std::int64_t width, std::int64_t height) const {
  return layout == Layout::kNchw ? Shape{channel_count(), height, width}
                                 : Shape{height, width, channel_count()};
}

TensorWriter::TensorWriter(const TensorSpec& spec, Size size, std::byte* to)
    : spec_(spec),
      size_(size),
      to_(to),
      row_(static_cast<std::size_t>(size.width) * kChannels + kTail) {
  for (std::size_t c = 0; c < kChannels; ++c) {
    const std::size_t place = spec.channels == Channels::kBgr ? kChannels - 1 - c : c;
    mean_[c] = spec.mean[place];
    scale_[c] = spec.scale[place];
  }
  for (std::size_t i = 0; i < flat_mean_.size(); ++i) {
    const std::size_t channel = i % static_cast<std::size_t>(spec.channel_count());
    flat_mean_[i] = spec.mean[channel];
    flat_scale_[i] = spec.scale[channel];
  }
}

const std::uint8_t* TensorWriter::reorder(int pixels, const std::uint8_t* rgb) {
  if (spec_.channels == Channels::kRgb) return rgb;
  std::uint8_t* out = row_.data();
  for (int i = 0; i < pixels; ++i, rgb += kChannels) {
    if (spec_.channels == Channels::kGrey) {
      *out++ = luma(rgb);
    } else {
      for (int c = 0; c < kChannels; ++c) *out++ = rgb[kChannels - 1 - c];
    }
  }
  return row_.data();
}

template <class Value>
void TensorWriter::write_floats(std::size_t at, int pixels, const std::uint8_t* rgb) {
  auto* const to = reinterpret_cast<Value*>(to_);
  if (spec_.layout == Layout::kNhwc || spec_.channels == Channels::kGrey) {
    const int channels = spec_.channel_count();
    kernels_for<Value>().flat(reorder(pixels, rgb), pixels * channels,
                              to + at * static_cast<std::size_t>(channels), flat_mean_.data(),
                              flat_scale_.data());
    return;
  }
  const std::size_t plane =
      static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
  Value* places[kChannels] = {to + at, to + plane + at, to + 2 * plane + at};
  if (spec_.channels == Channels::kBgr) std::swap(places[0], places[2]);
  kernels_for<Value>().planes(rgb, pixels, places, mean_.data(), scale_.data());
}

void TensorWriter::write_bytes(std::size_t at, int pixels, const std::uint8_t* rgb) {
  const std::uint8_t* const from = reorder(pixels, rgb);
  auto* const to = reinterpret_cast<std::uint8_t*>(to_);
  const auto channels = static_cast<std::size_t>(spec_.channel_count());
  if (spec_.layout == Layout::kNhwc || channels == 1) {
    std::memcpy(to + at * channels, from, static_cast<std::size_t>(pixels) * channels);
    return;
  }
  const std::size_t plane =
      static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
  for (std::size_t c = 0; c < channels; ++c) {
    for (int i = 0; i < pixels; ++i) to[c * plane + at + i] = from[i * kChannels + c];
  }
}

void TensorWriter::write(int x, int y, int pixels, const std::uint8_t* rgb) {
  const std::size_t at = static_cast<std::size_t>(y) * size_.width + x;
  if (spec_.type == DataType::kFp32) {
    write_floats<float>(at, pixels, rgb);
  } else if (spec_.type == DataType::kFp16) {
    write_floats<std::uint16_t>(at, pixels, rgb);
  } else {
    write_bytes(at, pixels, rgb);
  }
}

Result<Tensor> to_tensor(const Image& image, const TensorSpec& spec) {
  if (spec.type != DataType::kFp32 && spec.type != DataType::kFp16 &&
      spec.type != DataType::kUint8) {
    return error::invalid_argument("a picture becomes FP32, FP16 or UINT8, not {}",
                                   data_type_name(spec.type));
  }
  Tensor tensor;
  tensor.type = spec.type;
  tensor.shape = spec.extents(image.width, image.height).with_first(1);
  PROA_ASSIGN(const std::size_t bytes, dense_byte_size(tensor.type, tensor.shape));
  Buffer buffer = host_memory().allocate(bytes);
  TensorWriter writer(spec, {image.width, image.height}, buffer.data());
  for (int y = 0; y < image.height; ++y) writer.write(0, y, image.width, image.row(y));
  tensor.data = BufferView(std::move(buffer));
  return tensor;
}

}  // namespace proa::image
