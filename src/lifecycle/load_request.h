#pragma once

#include <optional>
#include <string>
#include <vector>

namespace proa::lifecycle {

// What a client sends with a request to load a model; nothing = load it from its folder.
struct LoadRequest {
  struct File {
    std::string path;  // below the model's folder, "1/model.onnx"
    std::string content;
  };
  // The configuration as JSON, instead of the folder's. Without files the rest of the folder stays.
  std::optional<std::string> config_json;
  // Instead of the whole folder; they need a configuration.
  std::vector<File> files;
  bool by_model = false;  // asked for by a model, which may keep a load thread until it has ended
};

}  // namespace proa::lifecycle
