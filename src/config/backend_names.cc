#include "config/backend_names.h"

#include <algorithm>
#include <array>

#include "base/log.h"

namespace proa::config {
namespace {

struct Name {
  std::string_view triton;
  std::string_view ours;
};
constexpr std::array kServed = {
    Name{"onnxruntime", "openvino"},
    Name{"onnxruntime_onnx", "openvino"},
    Name{"openvino", "openvino"},
    Name{"paddle", "openvino"},
    Name{"python", "python"},
    Name{"tensorflow", "openvino"},
    Name{"tensorflow_graphdef", "openvino"},
    Name{"tflite", "openvino"},
    Name{"tensorflow_savedmodel", "openvino"},
};

constexpr std::string_view kExportFromPyTorch =
    "export the model with torch.onnx.export(), put it beside as model.onnx and set backend: "
    "\"openvino\"";
constexpr std::string_view kNotYet = "is not built yet";

struct Refusal {
  std::string_view triton;
  std::string_view reason;
};
constexpr std::array kRefused = {
    Refusal{"tensorrt",
            "a TensorRT plan runs only with the TensorRT and on the GPU it was made for; put the "
            "model it was made from beside as model.onnx and set backend: \"openvino\""},
    Refusal{"tensorrt_plan",
            "a TensorRT plan runs only with the TensorRT and on the GPU it was made for; put the "
            "model it was made from beside as model.onnx and set backend: \"openvino\""},
    Refusal{"pytorch", kExportFromPyTorch},
    Refusal{"pytorch_libtorch", kExportFromPyTorch},
    Refusal{"torch_aoti", kExportFromPyTorch},
    Refusal{"tensorrtllm", "large language models are not served"},
    Refusal{"vllm", "large language models are not served"},
    Refusal{"dali", kNotYet},
    Refusal{"ensemble",
            "an ensemble is no backend: write platform: \"ensemble\" with ensemble_scheduling"},
    Refusal{"fil", "convert the trees to ONNX and set backend: \"openvino\""},
};

struct File {
  std::string_view name;
  std::string_view backend;
};
// The likeliest first, for a folder that holds several.
constexpr std::array kFiles = {
    File{"model.onnx", "onnxruntime"},      File{"model.xml", "openvino"},
    File{"model.savedmodel", "tensorflow"}, File{"model.tflite", "tflite"},
    File{"model.pdmodel", "paddle"},        File{"model.graphdef", "tensorflow_graphdef"},
    File{"model.plan", "tensorrt"},         File{"model.pt", "pytorch"},
    File{"model.pt2", "torch_aoti"},        File{"model.py", "python"},
    File{"index.faiss", "index"},
};

}  // namespace

Result<std::string> resolve_backend_name(std::string_view triton_name) {
  for (const Name& name : kServed) {
    if (name.triton == triton_name) return std::string(name.ours);
  }
  for (const Refusal& refusal : kRefused) {
    if (refusal.triton != triton_name) continue;
    return error::unimplemented("backend '{}' {}", triton_name,
                                refusal.reason == kNotYet
                                    ? std::string(kNotYet)
                                    : fmt::format("is not served here: {}", refusal.reason));
  }
  return std::string(triton_name);
}

std::vector<std::string_view> default_model_files(std::string_view triton_name) {
  if (triton_name.starts_with("onnxruntime")) return {"model.onnx"};
  if (triton_name == "paddle") return {"model.pdmodel"};
  if (triton_name == "tensorflow") return {"model.savedmodel", "model.graphdef", "model.tflite"};
  if (triton_name == "tensorflow_graphdef") return {"model.graphdef"};
  if (triton_name == "tensorflow_savedmodel") return {"model.savedmodel"};
  if (triton_name == "index") return {"index.faiss"};
  if (triton_name == "tflite") return {"model.tflite"};
  if (triton_name == "python") return {"model.py"};
  if (triton_name != "openvino" && triton_name != "cuda") return {};
  return {"model.xml",    "model.onnx",    "model.savedmodel",
          "model.tflite", "model.pdmodel", "model.graphdef"};
}

std::string_view backend_of_model_file(std::string_view file_name) {
  for (const File& file : kFiles) {
    if (file.name == file_name) return file.backend;
  }
  const std::size_t dot = file_name.rfind('.');
  const std::string_view extension = dot == std::string_view::npos ? "" : file_name.substr(dot);
  for (const std::string_view name : default_model_files("openvino")) {
    if (name.ends_with(extension) && !extension.empty()) return backend_of_model_file(name);
  }
  return {};
}

std::string find_model_file(std::span<const std::string> names) {
  for (const File& file : kFiles) {
    if (std::ranges::find(names, file.name) != names.end()) return std::string(file.name);
  }
  std::string only;
  for (const std::string& name : names) {
    if (backend_of_model_file(name).empty()) continue;
    if (!only.empty()) return {};
    only = name;
  }
  return only;
}

}  // namespace proa::config
