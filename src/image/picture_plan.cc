#include "image/picture_plan.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "fmt/format.h"
#include "image/decode.h"
#include "tensor/bytes_tensor.h"

namespace proa::image {
namespace {

constexpr int kDefaultSide = 224;
constexpr int kMaxSide = 16'384;

bool takes_channels(std::int64_t extent) { return extent == 1 || extent == 3; }

// The extents behind the batch dimension, or all three of an input without one.
std::optional<Shape> picture_extents(const PictureInput& input) {
  if (input.shape.rank() == 4) return input.shape.without_first();
  if (input.shape.rank() == 3) return input.shape;
  return std::nullopt;
}

bool looks_like_picture(const PictureInput& input) {
  if (input.type == DataType::kBytes) return true;
  const auto extents = picture_extents(input);
  return extents && (takes_channels((*extents)[0]) || takes_channels((*extents)[2]));
}

Result<int> parse_side(std::string_view option, std::string_view text) {
  const auto side = parse_number<int>(text);
  if (!side || *side < 1 || *side > kMaxSide) {
    return error::invalid_argument("--{} has '{}', wanted pixels from 1 to {}", option, text,
                                   kMaxSide);
  }
  return *side;
}

Result<PicturePlan::Size> parse_size(std::string_view option, std::string_view text) {
  const std::size_t by = text.find('x');
  PROA_ASSIGN(const int width, parse_side(option, text.substr(0, by)));
  if (by == std::string_view::npos) return PicturePlan::Size{width, width};
  PROA_ASSIGN(const int height, parse_side(option, text.substr(by + 1)));
  return PicturePlan::Size{width, height};
}

Result<float> parse_factor(std::string_view option, std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto value = parse_number<float>(text.substr(0, slash));
  if (!value) {
    return error::invalid_argument("--{} has '{}', wanted a number, like 0.5 or 1/128", option,
                                   text);
  }
  if (slash == std::string_view::npos) return *value;
  PROA_ASSIGN(const float divisor, parse_factor(option, text.substr(slash + 1)));
  if (divisor == 0) return error::invalid_argument("--{} has '{}': division by 0", option, text);
  return *value / divisor;
}

// "127" or "123.7,116.3,103.5".
Result<std::array<float, 3>> parse_channels(std::string_view option, std::string_view text) {
  std::vector<float> values;
  while (true) {
    const std::size_t comma = text.find(',');
    PROA_ASSIGN(const float value, parse_factor(option, text.substr(0, comma)));
    values.push_back(value);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (values.size() == 1) return std::array{values[0], values[0], values[0]};
  if (values.size() == 3) return std::array{values[0], values[1], values[2]};
  return error::invalid_argument("--{} has {} numbers, wanted 1 or 3", option, values.size());
}

// Layout, and with it the channels, height and width that the input has (kAny = open).
struct Frame {
  Layout layout;
  std::int64_t channels, height, width;
};
Result<Frame> find_frame(const PictureInput& input, std::string_view layout) {
  const auto extents = picture_extents(input);
  if (!extents) {
    return error::invalid_argument("input '{}' has shape {}, which is no picture's", input.name,
                                   input.shape.to_string());
  }
  const Shape& e = *extents;
  if (layout == "nchw" || (layout == "auto" && takes_channels(e[0]))) {
    return Frame{Layout::kNchw, e[0], e[1], e[2]};
  }
  if (layout == "nhwc" || (layout == "auto" && takes_channels(e[2]))) {
    return Frame{Layout::kNhwc, e[2], e[0], e[1]};
  }
  return error::invalid_argument(
      "input '{}' has shape {}: say with --layout nchw or nhwc where the channels are", input.name,
      input.shape.to_string());
}

Result<Channels> find_channels(const PictureInput& input, std::int64_t count,
                               std::string_view option) {
  const bool grey = option == "grey" || (option == "auto" && count == 1);
  if (count != Shape::kAny && count != (grey ? 1 : 3)) {
    return error::invalid_argument(
        "input '{}' has shape {} with {} channel(s), but --channels is {}", input.name,
        input.shape.to_string(), count, option);
  }
  if (grey) return Channels::kGrey;
  return option == "bgr" ? Channels::kBgr : Channels::kRgb;
}

// Defaults for what the user left open.
void plan_sizes(const Frame& frame, PicturePlan& plan, bool resize_given, bool crop_given) {
  const auto side = [](std::int64_t extent) {
    return extent == Shape::kAny ? kDefaultSide : static_cast<int>(extent);
  };
  const PicturePlan::Size size{side(frame.width), side(frame.height)};
  if (!crop_given && !plan.exact) plan.crop = size;
  if (resize_given) return;
  if (size.width == size.height) {
    plan.short_side = static_cast<int>(std::lround(size.width * 256.0 / kDefaultSide));
  } else {
    plan.exact = size;
    if (!crop_given) plan.crop.reset();
  }
}

Status parse_sizes(const PictureOptions& options, PicturePlan& plan) {
  if (!options.resize.empty() && options.resize != "none") {
    PROA_ASSIGN(const PicturePlan::Size size, parse_size("resize", options.resize));
    if (options.resize.find('x') == std::string::npos) {
      plan.short_side = size.width;
    } else {
      plan.exact = size;
    }
  }
  if (!options.crop.empty() && options.crop != "none") {
    PROA_ASSIGN(plan.crop, parse_size("crop", options.crop));
  }
  return {};
}

std::string as_written(const std::string& numbers) {
  return numbers.contains(',') ? '[' + numbers + ']' : numbers;
}

// The part of the picture that the plan wants, in the size that it wants.
Result<Image> cut_out(Image picture, const PicturePlan& plan) {
  const PicturePlan::Size whole{picture.width, picture.height};
  if (plan.short_side) picture = resize_short_side(picture, *plan.short_side, plan.filter);
  if (plan.exact) {
    picture = resize(picture, plan.exact->width, plan.exact->height, plan.filter);
  }
  if (!plan.crop) return picture;
  if (plan.crop->width > picture.width || plan.crop->height > picture.height) {
    return error::invalid_argument(
        "the crop of {}x{} is larger than the picture, which is {}x{}{}; change --resize or --crop",
        plan.crop->width, plan.crop->height, picture.width, picture.height,
        plan.short_side || plan.exact
            ? fmt::format(" after resizing ({}x{} before)", whole.width, whole.height)
            : "");
  }
  return centre_crop(picture, plan.crop->width, plan.crop->height);
}

// The file as one BYTES element, shape [1].
Tensor encoded_tensor(std::span<const std::byte> file) {
  std::string element;
  append_bytes_element(element, {reinterpret_cast<const char*>(file.data()), file.size()});
  Buffer buffer = Buffer::allocate(element.size());
  std::memcpy(buffer.data(), element.data(), element.size());
  return Tensor{DataType::kBytes, Shape{1}, BufferView(std::move(buffer))};
}

std::string_view channels_name(Channels channels) {
  switch (channels) {
    case Channels::kRgb:
      return "RGB";
    case Channels::kBgr:
      return "BGR";
    case Channels::kGrey:
      return "grey";
  }
  return "";
}

}  // namespace

std::string PicturePlan::to_string() const {
  if (encoded) return "sent as it is";
  const std::string_view kernel = filter == Filter::kBicubic ? "bicubic" : "bilinear";
  std::string text(channels_name(tensor.channels));
  if (short_side) text += fmt::format(", short side {} {}", *short_side, kernel);
  if (exact) text += fmt::format(", {}x{} {}", exact->width, exact->height, kernel);
  if (crop) text += fmt::format(", centre crop {}x{}", crop->width, crop->height);
  if (tensor.type == DataType::kFp32) {
    text += fmt::format(", (x - {}) * {}", as_written(mean), as_written(scale));
  }
  text += fmt::format(", {} {}", data_type_name(tensor.type),
                      tensor.layout == Layout::kNchw ? "NCHW" : "NHWC");
  return text;
}

Result<std::size_t> find_picture_input(std::span<const PictureInput> inputs) {
  if (inputs.size() == 1) return std::size_t{0};
  std::string names;
  std::optional<std::size_t> found;
  int candidates = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PictureInput& input = inputs[i];
    names += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", input.name, data_type_name(input.type),
                         input.shape.to_string());
    if (!looks_like_picture(input)) continue;
    found = i;
    ++candidates;
  }
  if (candidates == 1) return *found;
  return error::invalid_argument(
      "say with --picture-input which input takes the picture; the model has: {}", names);
}

Result<PicturePlan> plan_picture(const PictureInput& input, bool batches,
                                 const PictureOptions& options) {
  PicturePlan plan;
  if (input.type == DataType::kBytes) {
    plan.encoded = true;
    plan.drop_batch = !batches;
    return plan;
  }
  plan.tensor.type = input.type;
  if (input.type != DataType::kFp32 && input.type != DataType::kUint8) {
    return error::invalid_argument(
        "input '{}' is {}; pictures become FP32 or UINT8: prepare it yourself and use --input",
        input.name, data_type_name(input.type));
  }
  PROA_ASSIGN(const Frame frame, find_frame(input, options.layout));
  plan.tensor.layout = frame.layout;
  PROA_ASSIGN(plan.tensor.channels, find_channels(input, frame.channels, options.channels));
  PROA_ASSIGN(plan.tensor.mean, parse_channels("mean", options.mean));
  PROA_ASSIGN(plan.tensor.scale, parse_channels("scale", options.scale));
  plan.mean = options.mean;
  plan.scale = options.scale;
  plan.filter = options.filter == "bilinear" ? Filter::kBilinear : Filter::kBicubic;
  plan.drop_batch = !batches && input.shape.rank() == 3;
  PROA_TRY(parse_sizes(options, plan));
  plan_sizes(frame, plan, !options.resize.empty(), !options.crop.empty());
  return plan;
}

Result<Tensor> prepare_picture(std::span<const std::byte> file, const PicturePlan& plan) {
  if (plan.encoded) {
    Tensor tensor = encoded_tensor(file);
    if (!plan.drop_batch) tensor.shape = tensor.shape.with_first(1);
    return tensor;
  }
  PROA_ASSIGN(Image whole, decode(file));
  PROA_ASSIGN(const Image picture, cut_out(std::move(whole), plan));
  PROA_ASSIGN(Tensor tensor, to_tensor(picture, plan.tensor));
  if (plan.drop_batch) tensor.shape = tensor.shape.without_first();
  return tensor;
}

}  // namespace proa::image
