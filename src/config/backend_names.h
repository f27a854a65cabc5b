#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::config {

// The backend of ours that serves what `backend` or `platform` of a Triton configuration asks for
// ("onnxruntime_onnx" -> "openvino"); names that are not Triton's are returned as they are.
// Errors: kUnimplemented for backends of Triton that there is no counterpart of ("tensorrt_plan"),
// with the way out.
Result<std::string> resolve_backend_name(std::string_view triton_name);

// The files or folders that a model of that backend or platform (Triton's name or ours) is in
// unless its configuration says otherwise, the likeliest first; empty when it needs none.
std::vector<std::string_view> default_model_files(std::string_view triton_name);

// The backend that a file or folder of that name in a version's folder stands for, in Triton's name
// ("model.onnx" -> "onnxruntime"); "" = none.
std::string_view backend_of_model_file(std::string_view file_name);

// Which of the names in a version's folder is the model: one called "model" with a known extension,
// the likeliest first, else the only one with the extension of a served format; "" = none.
std::string find_model_file(std::span<const std::string> names);

}  // namespace proa::config
