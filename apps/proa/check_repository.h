#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/list.h"
#include "base/result.h"
#include "config/complete.h"

namespace proa {

// What a server would make of one model's folder.
struct ModelCheck {
  std::string name;
  std::vector<std::string> errors;    // one problem each; empty = it would be served
  std::vector<std::string> warnings;  // one sentence each
  // Of a model that would be served:
  std::string backend;
  std::int32_t max_batch_size = 0;
  std::vector<std::int64_t> versions;  // ascending
};

// Reads every model of the repository as `proa serve` does before it loads them: configurations,
// labels, and the model files of all versions that would be served. Nothing is compiled; what only
// shows then (operators that are not served) stays open.
// Errors: the folder itself cannot be read, or holds no models.
Result<std::vector<ModelCheck>> check_repository(const std::filesystem::path& path,
                                                 const backends::BackendList& backends,
                                                 const config::CompletionOptions& completion);

std::size_t count_failed(const std::vector<ModelCheck>& models);

// For a person: a line a model, its problems below it, and how many there are when all are well.
std::string check_as_text(const std::vector<ModelCheck>& models);

// {"models":[{"name":...,"ok":true,"errors":[],"warnings":[],"backend":...,"max_batch_size":8,
// "versions":[1,3]}],"failed":0}; the last three only when ok.
std::string check_as_json(const std::vector<ModelCheck>& models);

}  // namespace proa
