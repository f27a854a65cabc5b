#include "backends/openvino/model_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "backends/openvino/guard.h"
#include "backends/openvino/onnx_check.h"
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

// What is told about a file that OpenVINO does not take, before OpenVINO's own words.
class Refusal {
 public:
  explicit Refusal(const ModelFile& file)
      : format_(file.format),
        what_(fmt::format("cannot read {} as {}", file.path.string(),
                          model_format_name(file.format))) {
    std::error_code failure;
    const bool folder = std::filesystem::is_directory(file.path, failure);
    const auto size =
        std::filesystem::file_size(folder ? file.path / "saved_model.pb" : file.path, failure);
    if (!failure) bytes_ = size;
  }

  const std::string& what() const { return what_; }
  // Nothing when the file cannot be asked.
  std::optional<std::uintmax_t> bytes() const { return bytes_; }

  std::string damaged() const {
    return fmt::format(
        "{}: the file is damaged or incomplete ({} bytes), or no {}; copy it or export it again. "
        "OpenVINO says",
        what_, bytes_.value_or(0), model_format_name(format_));
  }

  std::string not_understood() const {
    const std::string_view advice = format_ == ModelFormat::kOnnx
                                        ? "export it again with another opset, or simplify it with "
                                          "onnxsim"
                                        : "export it again, or as ONNX";
    return fmt::format(
        "{} ({} bytes): the model uses something that OpenVINO cannot convert; {}. OpenVINO says",
        what_, bytes_.value_or(0), advice);
  }

 private:
  const ModelFormat format_;
  const std::string what_;
  std::optional<std::uintmax_t> bytes_;
};

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
  const Refusal refusal(file);
  if (refusal.bytes() == 0) return error::invalid_argument("{}: the file is empty", refusal.what());
  if (file.format == ModelFormat::kOnnx) {
    if (const Status inputs = check_onnx_inputs(file.path); !inputs) {
      return with_context(refusal.what(), inputs.error());
    }
  }
  PROA_ASSIGN(const auto front_end, guarded(ErrorCode::kInternal, refusal.what(), [&] {
                return Result<ov::frontend::FrontEnd::Ptr>(
                    front_ends().load_by_framework(frontend_name(file.format)));
              }));
  PROA_ASSIGN(const auto graph, guarded(ErrorCode::kInvalidArgument, refusal.damaged(), [&] {
                const bool map_weights = false;
                return Result<ov::frontend::InputModel::Ptr>(
                    front_end->load(file.path.string(), map_weights));
              }));
  auto model = guarded(ErrorCode::kInvalidArgument, refusal.not_understood(), [&] {
    return Result<std::shared_ptr<ov::Model>>(front_end->convert(graph));
  });
  // TensorFlow Lite's front end notices a damaged file only here.
  if (!model && model.error().message.contains("nullptr for InputModel")) {
    return error::invalid_argument("{}: it holds no model", refusal.damaged());
  }
  return model;
}

}  // namespace proa::backends::openvino
