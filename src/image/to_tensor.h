#pragma once

#include <array>

#include "base/result.h"
#include "image/image.h"
#include "tensor/tensor.h"

namespace proa::image {

enum class Layout : std::uint8_t { kNchw, kNhwc };

// kGrey is one channel: the luma of ITU-R 601, as Pillow's convert("L") rounds it.
enum class Channels : std::uint8_t { kRgb, kBgr, kGrey };

// How a picture becomes numbers: (value - mean) * scale, by channel in the tensor's order (grey:
// the first of each). The defaults are EfficientNet-Lite's.
struct TensorSpec {
  Layout layout = Layout::kNchw;
  Channels channels = Channels::kRgb;
  DataType type = DataType::kFp32;  // kFp32, or kUint8: the bytes as they are
  std::array<float, 3> mean{127, 127, 127};
  std::array<float, 3> scale{1 / 128.0F, 1 / 128.0F, 1 / 128.0F};
};

// The tensor of one picture: [1,channels,height,width] or [1,height,width,channels].
// Errors: kInvalidArgument for other types.
Result<Tensor> to_tensor(const Image& image, const TensorSpec& spec);

}  // namespace proa::image
