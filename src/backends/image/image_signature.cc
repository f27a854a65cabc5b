#include "backends/image/image_signature.h"

#include "fmt/format.h"

namespace proa::backends {
namespace {

using config::ModelConfig;
using config::Tensor;

constexpr std::int64_t kSizeNumbers = 2;
constexpr std::int64_t kPlacementNumbers = 4;

// The extents of a picture's tensor; kAny where they depend on the picture.
Shape image_dims(const ImageOptions& options) {
  const image::Size size = image::output_size(options.transform);
  const auto side = [](int pixels) { return pixels == 0 ? Shape::kAny : std::int64_t{pixels}; };
  return options.transform.tensor.extents(side(size.width), side(size.height));
}

Tensor make_tensor(std::string name, DataType type, Shape dims) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.dims = std::move(dims);
  return tensor;
}

Status check_input(const ModelConfig& config) {
  if (config.inputs.size() != 1) {
    return error::invalid_argument(
        "{} inputs are listed; an image model has one: the picture's file", config.inputs.size());
  }
  const Tensor& input = config.inputs[0];
  const bool bytes = input.type == DataType::kBytes && input.dims == Shape{1};
  const bool numbers = input.type == DataType::kUint8 && input.dims.rank() == 1;
  if ((bytes || numbers) && !input.reshape) return {};
  return error::invalid_argument(
      "input '{}' is {} {}{}; it must be TYPE_STRING [ 1 ] (a picture's file is one element) or "
      "TYPE_UINT8 [ -1 ] (it is a vector of bytes), without reshape",
      input.name, data_type_name(input.type), input.dims.to_string(),
      input.reshape ? " with a reshape" : "");
}

// Finds the output of that name; an error when a parameter names one that is not listed.
Result<std::optional<std::size_t>> find_output(const ModelConfig& config, const char* parameter,
                                               const std::string& name) {
  if (name.empty()) return std::nullopt;
  const int index = config.find_output(name);
  if (index >= 0) return static_cast<std::size_t>(index);
  return error::invalid_argument(
      "parameter '{}' is \"{}\", but the outputs that are listed do not include it; list it, or "
      "list no outputs at all",
      parameter, name);
}

Result<std::size_t> find_image_output(const ImageOptions& options, const ModelConfig& config,
                                      const ImageSignature& others) {
  if (!options.image_output.empty()) {
    PROA_ASSIGN(const auto found, find_output(config, "image_output", options.image_output));
    return *found;
  }
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    if (others.size != i && others.placement != i) return i;
  }
  return error::invalid_argument("no output for the picture's tensor is listed");
}

Error wrong_output(const Tensor& output, std::string_view what, const std::string& wanted) {
  return error::invalid_argument("output '{}' is {} {}; {} is {}", output.name,
                                 data_type_name(output.type), output.dims.to_string(), what,
                                 wanted);
}

// Every listed output is one that we make, once, as it is.
Status check_roles(const ModelConfig& config, const ImageSignature& signature) {
  for (std::size_t i = 0; i < config.outputs.size(); ++i) {
    const Tensor& output = config.outputs[i];
    const int roles = (signature.image == i) + (signature.size == i) + (signature.placement == i);
    if (roles == 0) {
      return error::invalid_argument(
          "output '{}' is none that the parameters name: '{}' carries the picture; name others by "
          "parameters size_output and placement_output",
          output.name, config.outputs[signature.image].name);
    }
    if (roles > 1) {
      return error::invalid_argument(
          "output '{}' cannot carry two things: give image_output, "
          "size_output and placement_output different names",
          output.name);
    }
    if (output.reshape) {
      return error::invalid_argument("output '{}' has a reshape, which backend image does not do",
                                     output.name);
    }
  }
  return {};
}

Status check_numbers(const ImageOptions& options, const ModelConfig& config,
                     const ImageSignature& signature) {
  const Tensor& numbers = config.outputs[signature.image];
  const DataType type = options.transform.tensor.type;
  const Shape dims = image_dims(options);
  if (numbers.type != type || !dims.matches(numbers.dims)) {
    return wrong_output(numbers, "what the parameters make",
                        fmt::format("{} {}", data_type_name(type), dims.to_string()));
  }
  if (signature.size) {
    const Tensor& size = config.outputs[*signature.size];
    const bool known = size.type == DataType::kInt64 || size.type == DataType::kInt32 ||
                       size.type == DataType::kFp32;
    if (!known || size.dims != Shape{kSizeNumbers}) {
      return wrong_output(size, "the picture's size", "INT64, INT32 or FP32 [2]");
    }
  }
  if (signature.placement) {
    const Tensor& placement = config.outputs[*signature.placement];
    if (placement.type != DataType::kFp32 || placement.dims != Shape{kPlacementNumbers}) {
      return wrong_output(placement, "the picture's placement", "FP32 [4]");
    }
  }
  return {};
}

}  // namespace

void complete_image_signature(const ImageOptions& options, ModelConfig& config) {
  if (config.inputs.empty()) {
    config.inputs.push_back(make_tensor("encoded_image", DataType::kBytes, {1}));
  }
  if (!config.outputs.empty()) return;
  config.outputs.push_back(
      make_tensor(options.image_output.empty() ? "image" : options.image_output,
                  options.transform.tensor.type, image_dims(options)));
  if (!options.size_output.empty()) {
    config.outputs.push_back(make_tensor(options.size_output, DataType::kInt64, {kSizeNumbers}));
  }
  if (!options.placement_output.empty()) {
    config.outputs.push_back(
        make_tensor(options.placement_output, DataType::kFp32, {kPlacementNumbers}));
  }
}

Result<ImageSignature> check_image_signature(const ImageOptions& options,
                                             const ModelConfig& config) {
  PROA_TRY(check_input(config));
  ImageSignature signature;
  PROA_ASSIGN(signature.size, find_output(config, "size_output", options.size_output));
  PROA_ASSIGN(signature.placement,
              find_output(config, "placement_output", options.placement_output));
  PROA_ASSIGN(signature.image, find_image_output(options, config, signature));
  PROA_TRY(check_roles(config, signature));
  PROA_TRY(check_numbers(options, config, signature));
  return signature;
}

}  // namespace proa::backends
