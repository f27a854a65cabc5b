#include "backends/openvino/model_reader.h"

#include <string>
#include <system_error>

#include "backends/openvino/guard.h"
#include "fmt/format.h"
#include "openvino/core/model.hpp"
#include "openvino/frontend/frontend.hpp"
#include "openvino/frontend/manager.hpp"

namespace proa::backends::openvino {
namespace {

constexpr std::string_view kKnownFormats =
    "known are .onnx, .xml (OpenVINO IR, with its .bin), .tflite, .pdmodel, .pb and folders with a "
    "saved_model.pb";

const char* frontend_name(ModelFormat format) {
  switch (format) {
    case ModelFormat::kOnnx:
      return "onnx";
    case ModelFormat::kIr:
      return "ir";
    case ModelFormat::kTensorFlow:
      return "tf";
    case ModelFormat::kTensorFlowLite:
      return "tflite";
    case ModelFormat::kPaddle:
      return "paddle";
  }
  return "";
}

// Lives as long as the process: front ends are libraries that keep state of their own, which each
// unloading would leak. Its methods lock. Threading: thread-safe.
ov::frontend::FrontEndManager& front_ends() {
  static auto* const manager = new ov::frontend::FrontEndManager();
  return *manager;
}

Result<ModelFile> find_in_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / "saved_model.pb", ignored)) {
    return ModelFile{folder, ModelFormat::kTensorFlow};
  }
  if (std::filesystem::exists(folder / "model.onnx", ignored)) {
    return ModelFile{folder / "model.onnx", ModelFormat::kOnnx};
  }
  return error::invalid_argument("{}: the folder holds neither saved_model.pb nor model.onnx; {}",
                                 folder.string(), kKnownFormats);
}

}  // namespace

std::string_view model_format_name(ModelFormat format) {
  switch (format) {
    case ModelFormat::kOnnx:
      return "ONNX";
    case ModelFormat::kIr:
      return "OpenVINO IR";
    case ModelFormat::kTensorFlow:
      return "TensorFlow";
    case ModelFormat::kTensorFlowLite:
      return "TensorFlow Lite";
    case ModelFormat::kPaddle:
      return "PaddlePaddle";
  }
  return "";
}

Result<ModelFile> find_model_file(const std::filesystem::path& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) {
    return error::not_found("{}: there is no such model file", path.string());
  }
  if (std::filesystem::is_directory(status)) return find_in_folder(path);
  const std::string extension = path.extension().string();
  if (extension == ".onnx") return ModelFile{path, ModelFormat::kOnnx};
  if (extension == ".xml") return ModelFile{path, ModelFormat::kIr};
  if (extension == ".tflite") return ModelFile{path, ModelFormat::kTensorFlowLite};
  if (extension == ".pdmodel") return ModelFile{path, ModelFormat::kPaddle};
  if (extension == ".pb" || extension == ".graphdef") {
    return ModelFile{path, ModelFormat::kTensorFlow};
  }
  return error::invalid_argument("{}: the name does not tell a model format; {}", path.string(),
                                 kKnownFormats);
}

Result<std::shared_ptr<ov::Model>> read_model(const ModelFile& file) {
  const std::string what =
      fmt::format("cannot read {} as {}", file.path.string(), model_format_name(file.format));
  return guarded(ErrorCode::kInvalidArgument, what, [&]() -> Result<std::shared_ptr<ov::Model>> {
    const auto front_end = front_ends().load_by_framework(frontend_name(file.format));
    const bool map_weights = false;
    const auto graph = front_end->load(file.path.string(), map_weights);
    if (graph == nullptr) {
      return error::invalid_argument("{}: it is damaged or of another format", what);
    }
    return front_end->convert(graph);
  });
}

}  // namespace proa::backends::openvino
