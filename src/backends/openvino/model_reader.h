#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace ov {
class Model;
}

namespace proa::backends::openvino {

enum class ModelFormat : std::uint8_t { kOnnx, kIr, kTensorFlow, kTensorFlowLite, kPaddle };

// "ONNX", "OpenVINO IR", ...
std::string_view model_format_name(ModelFormat format);

// A model file and what it is. ONNX and SavedModel may be folders.
struct ModelFile {
  std::filesystem::path path;
  ModelFormat format = ModelFormat::kOnnx;
};

// Tells the format by name: *.onnx (a file, or a folder with model.onnx in it), *.xml, *.tflite,
// *.pdmodel, *.pb and *.graphdef, and folders with a saved_model.pb.
// Errors: kNotFound, kInvalidArgument, with the path and the formats that are known.
Result<ModelFile> find_model_file(const std::filesystem::path& path);

// Reads the file into OpenVINO's graph. Only the front end of that format looks at it (asking all
// of them costs 30 ms and prints TensorFlow's complaints about an ONNX file to stderr), and nothing
// is mapped into memory: the file may be replaced while the model is served.
// Errors: kInvalidArgument with the path and size, what is wrong (empty, damaged, something that
// OpenVINO does not convert), what to try, and then OpenVINO's reason.
Result<std::shared_ptr<ov::Model>> read_model(const ModelFile& file);

}  // namespace proa::backends::openvino
