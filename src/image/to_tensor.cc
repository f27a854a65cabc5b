#include "image/to_tensor.h"

#include <vector>

namespace proa::image {
namespace {

constexpr int kChannels = Image::kChannels;
constexpr int kByteValues = 256;

// What every byte of every channel becomes.
template <class Value>
using Table = std::array<std::array<Value, kByteValues>, kChannels>;

Table<float> normalising_table(const TensorSpec& spec) {
  Table<float> table;
  for (int c = 0; c < kChannels; ++c) {
    for (int v = 0; v < kByteValues; ++v) {
      table[c][v] = (static_cast<float>(v) - spec.mean[c]) * spec.scale[c];
    }
  }
  return table;
}

Table<std::uint8_t> plain_table() {
  Table<std::uint8_t> table;
  for (auto& channel : table) {
    for (int v = 0; v < kByteValues; ++v) channel[v] = static_cast<std::uint8_t>(v);
  }
  return table;
}

std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >>
                                   16);
}

template <class Value>
Buffer convert(const Image& image, const TensorSpec& spec, const Table<Value>& table) {
  const bool grey = spec.channels == Channels::kGrey;
  const std::size_t channels = grey ? 1 : kChannels;
  const std::size_t pixels =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  Buffer buffer = host_memory().allocate(pixels * channels * sizeof(Value));
  auto* to = reinterpret_cast<Value*>(buffer.data());
  const bool planes = spec.layout == Layout::kNchw;
  const std::size_t pixel_step = planes ? 1 : channels;
  const std::size_t channel_step = planes ? pixels : 1;
  for (std::size_t c = 0; c < channels; ++c) {
    Value* out = to + c * channel_step;
    const std::size_t source = spec.channels == Channels::kBgr ? kChannels - 1 - c : c;
    const std::uint8_t* from = image.row(0);
    for (std::size_t i = 0; i < pixels; ++i, from += kChannels, out += pixel_step) {
      *out = table[c][grey ? luma(from) : from[source]];
    }
  }
  return buffer;
}

}  // namespace

Result<Tensor> to_tensor(const Image& image, const TensorSpec& spec) {
  Tensor tensor;
  tensor.type = spec.type;
  const int channels = spec.channels == Channels::kGrey ? 1 : kChannels;
  tensor.shape = spec.layout == Layout::kNchw ? Shape{1, channels, image.height, image.width}
                                              : Shape{1, image.height, image.width, channels};
  if (spec.type == DataType::kFp32) {
    tensor.data = BufferView(convert(image, spec, normalising_table(spec)));
  } else if (spec.type == DataType::kUint8) {
    tensor.data = BufferView(convert(image, spec, plain_table()));
  } else {
    return error::invalid_argument("a picture becomes FP32 or UINT8, not {}",
                                   data_type_name(spec.type));
  }
  return tensor;
}

}  // namespace proa::image
