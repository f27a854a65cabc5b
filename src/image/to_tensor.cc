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

template <class Value>
Buffer convert(const Image& image, Layout layout, const Table<Value>& table) {
  const std::size_t pixels =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  Buffer buffer = host_memory().allocate(pixels * kChannels * sizeof(Value));
  auto* to = reinterpret_cast<Value*>(buffer.data());
  const std::uint8_t* from = image.row(0);
  const std::size_t pixel_step = layout == Layout::kNchw ? 1 : kChannels;
  const std::size_t channel_step = layout == Layout::kNchw ? pixels : 1;
  for (int c = 0; c < kChannels; ++c) {
    Value* out = to + c * channel_step;
    for (std::size_t i = 0; i < pixels; ++i)
      out[i * pixel_step] = table[c][from[i * kChannels + c]];
  }
  return buffer;
}

}  // namespace

Result<Tensor> to_tensor(const Image& image, const TensorSpec& spec) {
  Tensor tensor;
  tensor.type = spec.type;
  tensor.shape = spec.layout == Layout::kNchw ? Shape{1, kChannels, image.height, image.width}
                                              : Shape{1, image.height, image.width, kChannels};
  if (spec.type == DataType::kFp32) {
    tensor.data = BufferView(convert(image, spec.layout, normalising_table(spec)));
  } else if (spec.type == DataType::kUint8) {
    tensor.data = BufferView(convert(image, spec.layout, plain_table()));
  } else {
    return error::invalid_argument("a picture becomes FP32 or UINT8, not {}",
                                   data_type_name(spec.type));
  }
  return tensor;
}

}  // namespace proa::image
