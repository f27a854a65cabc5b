#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"
#include "openvino/runtime/tensor.hpp"

namespace ov {
class Model;
}

namespace proa::backends::cuda {

// One row of each of a model's inputs, by port: what a network is looked at with before it serves.
using SampleRow = std::vector<ov::Tensor>;

// Seeded: pixels from 0 to 255, floats normally distributed, other integers 0 or 1. Open extents
// are 1.
SampleRow random_row(const ov::Model& model, std::uint32_t seed);

// The rows of `model_warmup` whose inputs are all files (in `warm_up_folder`), else two random
// ones. Errors: kNotFound, kInvalidArgument for a file that does not fit.
Result<std::vector<SampleRow>> sample_rows(const ov::Model& model,
                                           const config::ModelConfig& config,
                                           const std::filesystem::path& warm_up_folder);

}  // namespace proa::backends::cuda
