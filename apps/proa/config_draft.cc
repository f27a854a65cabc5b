#include "config_draft.h"

#include <algorithm>
#include <string_view>

#include "config/backend_names.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace proa {
namespace {

// A string of protobuf's text format.
std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\{:03o}", c);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string_view type_name(DataType type) {
  return type == DataType::kBytes ? "STRING" : data_type_name(type);
}

std::string dims(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void append_tensor(std::string& text, std::string_view field, const config::Tensor& tensor) {
  text += fmt::format("{} {{\n  name: {}\n  data_type: TYPE_{}\n  dims: {}\n", field,
                      quoted_text(tensor.name), type_name(tensor.type), dims(tensor.dims));
  if (tensor.reshape) text += fmt::format("  reshape {{ shape: {} }}\n", dims(*tensor.reshape));
  if (!tensor.label_filename.empty()) {
    text += fmt::format("  label_filename: {}\n", quoted_text(tensor.label_filename));
  }
  text += "}\n";
}

// Whether a server finds the model's file without being told.
bool has_default_file(const config::ModelConfig& config) {
  const auto known = config::default_model_files(config.backend);
  return config.default_model_filename.empty() ||
         std::ranges::find(known, config.default_model_filename) != known.end();
}

}  // namespace

std::string config_draft(const config::ModelConfig& config) {
  std::string text;
  if (!config.name.empty()) text += fmt::format("name: {}\n", quoted_text(config.name));
  text += fmt::format("backend: {}\n", quoted_text(config.backend));
  if (!has_default_file(config)) {
    text += fmt::format("default_model_filename: {}\n", quoted_text(config.default_model_filename));
  }
  text += fmt::format("max_batch_size: {}\n", config.max_batch_size);
  for (const config::Tensor& tensor : config.inputs) append_tensor(text, "input", tensor);
  for (const config::Tensor& tensor : config.outputs) append_tensor(text, "output", tensor);
  if (config.dynamic_batching) text += "dynamic_batching { }\n";
  for (const auto& [key, value] : config.parameters) {
    text += fmt::format("parameters {{ key: {} value {{ string_value: {} }} }}\n", quoted_text(key),
                        quoted_text(value));
  }
  return text;
}

}  // namespace proa
