#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "backends/openvino/signature.h"
#include "base/result.h"

namespace proa::backends::openvino {

// What a model file holds, for people (`proa inspect`). A plain value.
struct ModelDescription {
  std::string format;  // "ONNX"
  Signature signature;
  std::map<std::string, int> operations;  // how many of each kind, constants left out
  std::int64_t parameters = 0;            // numbers in the model's weights
  std::int64_t weight_bytes = 0;
  // Multiplications of convolutions and matrix products for a batch of one; nothing when shapes
  // other than the batch dimension are open.
  std::optional<std::int64_t> multiply_adds;
};

// Reads the file, does not compile it. Errors: those of find_model_file() and read_model().
Result<ModelDescription> describe_model(const std::filesystem::path& path);

}  // namespace proa::backends::openvino
