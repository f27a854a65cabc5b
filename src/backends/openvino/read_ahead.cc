#include "backends/openvino/read_ahead.h"

#include <string>
#include <system_error>

#include "fmt/format.h"
#include "openvino/core/model.hpp"

namespace proa::backends::openvino {
namespace {

// Changes when the file does: its size and time, for IR also those of its weights.
std::string file_state(const ModelFile& file) {
  std::string state;
  auto add = [&](const std::filesystem::path& path) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    const auto time = std::filesystem::last_write_time(path, ignored);
    state += fmt::format("{}/{};", size, time.time_since_epoch().count());
  };
  add(file.path);
  if (file.format == ModelFormat::kIr) {
    auto weights = file.path;
    add(weights.replace_extension(".bin"));
  }
  if (file.format == ModelFormat::kTensorFlow) add(file.path / "saved_model.pb");
  return state;
}

}  // namespace

std::shared_ptr<ov::Model> ReadAhead::take_kept(const ModelFile& file, const std::string& state) {
  MutexLock lock(mutex_);
  for (auto it = kept_.begin(); it != kept_.end(); ++it) {
    if (it->path != file.path) continue;
    std::shared_ptr<ov::Model> model = std::move(it->model);
    const bool fresh = it->state == state;
    kept_.erase(it);
    return fresh ? model : nullptr;
  }
  return nullptr;
}

Result<std::shared_ptr<ov::Model>> ReadAhead::take(const ModelFile& file) {
  if (auto kept = take_kept(file, file_state(file))) return kept;
  return read_model(file);
}

Result<std::shared_ptr<const ov::Model>> ReadAhead::peek(const ModelFile& file) {
  const std::string state = file_state(file);
  PROA_ASSIGN(std::shared_ptr<ov::Model> model, take(file));
  MutexLock lock(mutex_);
  kept_.push_back({file.path, state, model});
  if (kept_.size() > kMostKept) kept_.pop_front();
  return std::shared_ptr<const ov::Model>(std::move(model));
}

}  // namespace proa::backends::openvino
