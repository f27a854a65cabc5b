#pragma once

#include <array>

#include "base/result.h"
#include "image/image.h"
#include "tensor/tensor.h"

namespace proa::image {

enum class Layout : std::uint8_t { kNchw, kNhwc };

// How a picture becomes numbers: (value - mean) * scale, by channel in the order R, G, B. The
// defaults are EfficientNet-Lite's.
struct TensorSpec {
  Layout layout = Layout::kNchw;
  DataType type = DataType::kFp32;  // kFp32, or kUint8: the bytes as they are
  std::array<float, 3> mean{127, 127, 127};
  std::array<float, 3> scale{1 / 128.0F, 1 / 128.0F, 1 / 128.0F};
};

// The tensor of one picture: [1,3,height,width] or [1,height,width,3].
// Errors: kInvalidArgument for other types.
Result<Tensor> to_tensor(const Image& image, const TensorSpec& spec);

}  // namespace proa::image
