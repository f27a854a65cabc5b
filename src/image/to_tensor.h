#pragma once

#include <array>
#include <vector>

#include "base/result.h"
#include "image/image.h"
#include "image/resize.h"
#include "tensor/tensor.h"

namespace proa::image {

enum class Layout : std::uint8_t { kNchw, kNhwc };

// kGrey is one channel: the luma of ITU-R 601, as Pillow's convert("L") rounds it.
enum class Channels : std::uint8_t { kRgb, kBgr, kGrey };

// How a picture becomes numbers: (value - mean) * scale, by channel in the tensor's order (grey:
// the first of each), computed in FP32. The defaults are EfficientNet-Lite's.
struct TensorSpec {
  Layout layout = Layout::kNchw;
  Channels channels = Channels::kRgb;
  DataType type = DataType::kFp32;  // kFp32, kFp16 (rounded to even), or kUint8: bytes as they are
  std::array<float, 3> mean{127, 127, 127};
  std::array<float, 3> scale{1 / 128.0F, 1 / 128.0F, 1 / 128.0F};

  int channel_count() const { return channels == Channels::kGrey ? 1 : Image::kChannels; }
  // [channels,height,width] or [height,width,channels]; Shape::kAny passes through.
  Shape extents(std::int64_t width, std::int64_t height) const;
};

// The tensor of one picture: [1,channels,height,width] or [1,height,width,channels].
// Errors: kInvalidArgument for other types.
Result<Tensor> to_tensor(const Image& image, const TensorSpec& spec);

// Writes rows of pixels into the tensor of one picture as they come.
// Threading: confined to one thread.
class TensorWriter {
 public:
  // `to` holds the numbers of a picture of `size`, spec.extents() of spec.type; it outlives this.
  TensorWriter(const TensorSpec& spec, Size size, std::byte* to);

  // Puts `pixels` RGB pixels at [x, y]. 64 bytes behind them may be read.
  void write(int x, int y, int pixels, const std::uint8_t* rgb);

 private:
  template <class Value>
  void write_floats(std::size_t at, int pixels, const std::uint8_t* rgb);
  void write_bytes(std::size_t at, int pixels, const std::uint8_t* rgb);
  // The pixels in the tensor's order, one behind the other: BGR, or one grey value each.
  const std::uint8_t* reorder(int pixels, const std::uint8_t* rgb);

  const TensorSpec spec_;
  const Size size_;
  std::byte* const to_;
  std::array<float, 24> flat_mean_, flat_scale_;      // in the tensor's order, repeated
  std::array<float, Image::kChannels> mean_, scale_;  // of red, green and blue
  std::vector<std::uint8_t> row_;
};

}  // namespace proa::image
