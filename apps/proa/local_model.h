#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/list.h"
#include "base/result.h"
#include "config/model_config.h"
#include "core/backend.h"

namespace proa {

// What a path on the command line may be.
enum class ModelPathKind : std::uint8_t { kFile, kModelFolder, kRepository };

// Tells them apart: a folder with config.pbtxt or numbered sub-folders is a model's, another folder
// without a model inside is a repository; a SavedModel folder counts as a file.
// Errors: kNotFound.
Result<ModelPathKind> classify_model_path(const std::filesystem::path& path);

// A model on disk with its configuration, complete and checked; nothing is loaded yet.
struct LocalModel {
  config::ModelConfig config;
  core::ModelFiles files;
  core::Backend* backend = nullptr;              // lives as long as the BackendList
  std::filesystem::path file;                    // the model file; "" when the backend needs none
  std::vector<std::vector<std::string>> labels;  // by output
  std::vector<std::string> warnings;
};

// A model file gets the configuration that `proa serve` would complete for it in a folder of its
// own; a model folder has its own, and its latest version is taken.
// Errors name the file and the reason.
Result<LocalModel> open_model_file(const std::filesystem::path& path,
                                   const backends::BackendList& backends);
Result<LocalModel> open_model_folder(const std::filesystem::path& folder,
                                     const backends::BackendList& backends);
// Whichever of both the path is.
Result<LocalModel> open_local_model(const std::filesystem::path& path,
                                    const backends::BackendList& backends);

// A name for a model file's model: its stem, or for "model.onnx" the folder above it that is no
// version number.
std::string model_name_of(const std::filesystem::path& file);

}  // namespace proa
