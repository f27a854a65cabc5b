#include "backends/image/image_options.h"

#include <algorithm>

#include "backends/image/parameter_reader.h"
#include "base/log.h"
#include "fmt/ranges.h"
#include "proto/nearest_name.h"

namespace proa::backends {
namespace {

using image::Channels;
using image::Definition;
using image::Filter;
using image::Fit;
using image::Layout;

constexpr std::string_view kNames[] = {"channels",
                                       "crop",
                                       "data_type",
                                       "definition",
                                       "filter",
                                       "image_output",
                                       "jpeg_scaled_decode",
                                       "layout",
                                       "max_file_bytes",
                                       "max_pixels",
                                       "max_ratio",
                                       "mean",
                                       "pad_color",
                                       "pad_position",
                                       "placement_output",
                                       "resize",
                                       "resize_mode",
                                       "scale",
                                       "size_order",
                                       "size_output",
                                       "std"};

constexpr std::int64_t kMostPixels = std::int64_t{1} << 30;
constexpr std::int64_t kMostFileBytes = std::int64_t{1} << 31;
constexpr std::int64_t kMostRatio = 1'000'000'000;

Status check_names(const std::map<std::string, std::string>& parameters) {
  for (const auto& [name, value] : parameters) {
    if (std::ranges::find(kNames, name) != std::end(kNames)) continue;
    const std::string_view nearest = proto::nearest_name(name, kNames);
    return error::invalid_argument(
        "backend image has no parameter '{}'; {}it has {}", log::printable(name),
        nearest.empty() ? std::string() : fmt::format("did you mean '{}'? ", nearest),
        fmt::join(kNames, ", "));
  }
  return {};
}

Status read_resize(const ParameterReader& reader, image::Transform& transform) {
  PROA_ASSIGN(const auto sides, reader.sides("resize"));
  const Fit usual = !sides ? Fit::kNone : sides->single ? Fit::kShorterSide : Fit::kExact;
  PROA_ASSIGN(transform.fit, reader.choice("resize_mode", usual,
                                           {Choice<Fit>{"none", Fit::kNone},
                                            {"exact", Fit::kExact},
                                            {"shorter_side", Fit::kShorterSide},
                                            {"letterbox", Fit::kLetterbox}}));
  if (!sides && transform.fit != Fit::kNone) {
    return reader.no_effect("resize_mode", "parameter 'resize' does not say to how many pixels");
  }
  if (sides && transform.fit == Fit::kNone) {
    return reader.no_effect("resize", "parameter 'resize_mode' is none");
  }
  if (sides && transform.fit == Fit::kShorterSide && !sides->single) {
    return bad_parameter("resize", reader.text("resize"),
                         "one number when resize_mode is shorter_side");
  }
  if (sides) transform.size = sides->size;
  PROA_ASSIGN(transform.method.filter, reader.choice("filter", Filter::kBicubic,
                                                     {Choice<Filter>{"nearest", Filter::kNearest},
                                                      {"bilinear", Filter::kBilinear},
                                                      {"bicubic", Filter::kBicubic},
                                                      {"area", Filter::kArea}}));
  PROA_ASSIGN(transform.method.definition,
              reader.choice("definition", Definition::kPillow,
                            {Choice<Definition>{"pillow", Definition::kPillow},
                             {"opencv", Definition::kOpenCv}}));
  return {};
}

Status read_crop(const ParameterReader& reader, image::Transform& transform) {
  PROA_ASSIGN(const auto sides, reader.sides("crop"));
  if (!sides) return {};
  if (transform.fit == Fit::kLetterbox) {
    return reader.no_effect("crop",
                            "a letterbox shows the whole picture; use resize_mode exact or "
                            "shorter_side to crop");
  }
  transform.crop = sides->size;
  const image::Size& size = transform.size;
  if (transform.fit == Fit::kExact &&
      (sides->size.width > size.width || sides->size.height > size.height)) {
    return bad_parameter(
        "crop", reader.text("crop"),
        fmt::format("at most the {}x{} of parameter 'resize'", size.width, size.height));
  }
  return {};
}

Status read_padding(const ParameterReader& reader, image::Transform& transform) {
  for (const char* name : {"pad_color", "pad_position"}) {
    if (reader.has(name) && transform.fit != Fit::kLetterbox) {
      return reader.no_effect(name, "only resize_mode letterbox pads");
    }
  }
  PROA_ASSIGN(const auto colour, reader.channels("pad_color", 0, 3));
  for (std::size_t c = 0; c < colour.size(); ++c) {
    if (colour[c] < 0 || colour[c] > 255 || colour[c] != static_cast<int>(colour[c])) {
      return bad_parameter("pad_color", reader.text("pad_color"),
                           "whole numbers from 0 to 255: one, or red, green, blue");
    }
    transform.padding[c] = static_cast<std::uint8_t>(colour[c]);
  }
  PROA_ASSIGN(
      transform.pad_evenly,
      reader.choice("pad_position", true, {Choice<bool>{"center", true}, {"top_left", false}}));
  return {};
}

// The type of the numbers: the parameter's, else the listed output's, else FP32.
Result<DataType> read_type(const ParameterReader& reader, const config::ModelConfig& config,
                           const ImageOptions& options) {
  DataType usual = DataType::kFp32;
  for (const config::Tensor& output : config.outputs) {
    const bool numbers = options.image_output.empty() ? output.name != options.size_output &&
                                                            output.name != options.placement_output
                                                      : output.name == options.image_output;
    if (numbers) usual = output.type;
  }
  return reader.choice("data_type", usual,
                       {Choice<DataType>{"FP32", DataType::kFp32},
                        {"FP16", DataType::kFp16},
                        {"UINT8", DataType::kUint8},
                        {"TYPE_FP32", DataType::kFp32},
                        {"TYPE_FP16", DataType::kFp16},
                        {"TYPE_UINT8", DataType::kUint8}});
}

// (value * scale - mean) / std becomes the (value - mean) * scale of TensorSpec.
Status read_numbers(const ParameterReader& reader, image::TensorSpec& tensor) {
  const auto channels = static_cast<std::size_t>(tensor.channel_count());
  PROA_ASSIGN(const auto scale, reader.channels("scale", 1, channels));
  PROA_ASSIGN(const auto mean, reader.channels("mean", 0, channels));
  PROA_ASSIGN(const auto deviation, reader.channels("std", 1, channels));
  for (std::size_t c = 0; c < channels; ++c) {
    if (scale[c] == 0) {
      return bad_parameter("scale", reader.text("scale"), "other than 0");
    }
    if (deviation[c] == 0) {
      return bad_parameter("std", reader.text("std"), "other than 0: it divides");
    }
    tensor.mean[c] = static_cast<float>(mean[c] / scale[c]);
    tensor.scale[c] = static_cast<float>(scale[c] / deviation[c]);
  }
  if (tensor.type != DataType::kUint8) return {};
  for (const char* name : {"scale", "mean", "std"}) {
    if (reader.has(name)) return reader.no_effect(name, "UINT8 pixels stay as they are");
  }
  return {};
}

Status read_tensor(const ParameterReader& reader, const config::ModelConfig& config,
                   ImageOptions& options) {
  image::TensorSpec& tensor = options.transform.tensor;
  PROA_ASSIGN(tensor.channels, reader.choice("channels", Channels::kRgb,
                                             {Choice<Channels>{"rgb", Channels::kRgb},
                                              {"bgr", Channels::kBgr},
                                              {"gray", Channels::kGrey}}));
  PROA_ASSIGN(tensor.layout,
              reader.choice("layout", Layout::kNchw,
                            {Choice<Layout>{"nchw", Layout::kNchw}, {"nhwc", Layout::kNhwc}}));
  PROA_ASSIGN(tensor.type, read_type(reader, config, options));
  return read_numbers(reader, tensor);
}

Status read_decoding(const ParameterReader& reader, ImageOptions& options) {
  image::DecodeLimits& limits = options.limits;
  PROA_ASSIGN(limits.max_pixels, reader.count("max_pixels", limits.max_pixels, kMostPixels));
  PROA_ASSIGN(limits.max_file_bytes,
              reader.count("max_file_bytes", limits.max_file_bytes, kMostFileBytes));
  PROA_ASSIGN(limits.max_ratio, reader.count("max_ratio", limits.max_ratio, kMostRatio));
  PROA_ASSIGN(options.most_jpeg_reduction,
              reader.choice("jpeg_scaled_decode", 1,
                            {Choice<int>{"off", 1}, {"1/2", 2}, {"1/4", 4}, {"1/8", 8}}));
  if (options.most_jpeg_reduction > 1 && options.transform.fit == Fit::kNone) {
    return reader.no_effect("jpeg_scaled_decode",
                            "without parameter 'resize' no smaller picture is wanted");
  }
  return {};
}

Status read_outputs(const ParameterReader& reader, ImageOptions& options) {
  options.image_output = reader.text("image_output");
  options.size_output = reader.text("size_output");
  options.placement_output = reader.text("placement_output");
  for (const char* name : {"image_output", "size_output", "placement_output"}) {
    if (reader.has(name) && reader.text(name).empty()) {
      return bad_parameter(name, "", "the name of an output");
    }
  }
  PROA_ASSIGN(options.width_first,
              reader.choice("size_order", false, {Choice<bool>{"hw", false}, {"wh", true}}));
  if (reader.has("size_order") && options.size_output.empty()) {
    return reader.no_effect("size_order", "parameter 'size_output' names no output");
  }
  return {};
}

}  // namespace

Result<ImageOptions> parse_image_options(const config::ModelConfig& config) {
  PROA_TRY(check_names(config.parameters));
  const ParameterReader reader(config.parameters);
  ImageOptions options;
  PROA_TRY(read_outputs(reader, options));
  PROA_TRY(read_resize(reader, options.transform));
  PROA_TRY(read_crop(reader, options.transform));
  PROA_TRY(read_padding(reader, options.transform));
  PROA_TRY(read_tensor(reader, config, options));
  PROA_TRY(read_decoding(reader, options));
  return options;
}

}  // namespace proa::backends
