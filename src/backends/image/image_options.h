#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "config/model_config.h"
#include "image/decode.h"
#include "image/transform.h"

namespace proa::backends {

// The `parameters` of an image model's configuration; docs/image.md explains them.
// Threading: a plain value.
struct ImageOptions {
  image::Transform transform;
  image::DecodeLimits limits;
  int most_jpeg_reduction = 1;  // 1, 2, 4 or 8

  // Names of outputs; "" = the model has no such output.
  std::string image_output;  // "" = the one that is neither of the others
  std::string size_output;
  std::string placement_output;
  bool width_first = false;  // in the size output
};

// `config` gives the type of the numbers where no parameter does: that of the output it lists.
// Errors: kInvalidArgument naming the parameter, its value and what it may be; for a parameter that
// there is none of, the one that was most likely meant.
Result<ImageOptions> parse_image_options(const config::ModelConfig& config);

}  // namespace proa::backends
