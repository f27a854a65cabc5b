#pragma once

#include <cstddef>
#include <optional>

#include "backends/image/image_options.h"
#include "base/result.h"
#include "config/model_config.h"

namespace proa::backends {

// Which output of a configuration carries what; indexes into its outputs.
struct ImageSignature {
  std::size_t image = 0;
  std::optional<std::size_t> size;
  std::optional<std::size_t> placement;
};

// Fills in the input and the outputs that the configuration leaves open: input `encoded_image`
// (TYPE_STRING [ 1 ]); output `image` and those that `options` names.
void complete_image_signature(const ImageOptions& options, config::ModelConfig& config);

// Checks what the configuration lists against what the parameters make.
// Errors: kInvalidArgument naming the tensor, what it is and what it must be.
Result<ImageSignature> check_image_signature(const ImageOptions& options,
                                             const config::ModelConfig& config);

}  // namespace proa::backends
