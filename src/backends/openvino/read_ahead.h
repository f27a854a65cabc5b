#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>

#include "backends/openvino/model_reader.h"
#include "base/mutex.h"
#include "base/result.h"

namespace proa::backends::openvino {

// Completing a configuration and loading the model both need the file's graph; this reads it once.
// peek() leaves the graph for a later take() of the same, unchanged file.
// Threading: thread-safe.
class ReadAhead {
 public:
  Result<std::shared_ptr<const ov::Model>> peek(const ModelFile& file) PROA_EXCLUDES(mutex_);
  // The graph is the caller's to change.
  Result<std::shared_ptr<ov::Model>> take(const ModelFile& file) PROA_EXCLUDES(mutex_);

 private:
  // Models that were completed but never loaded must not pile up.
  static constexpr std::size_t kMostKept = 8;

  struct Kept {
    std::filesystem::path path;
    std::string state;  // of the file when it was read
    std::shared_ptr<ov::Model> model;
  };
  std::shared_ptr<ov::Model> take_kept(const ModelFile& file, const std::string& state)
      PROA_EXCLUDES(mutex_);

  Mutex mutex_;
  std::list<Kept> kept_ PROA_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace proa::backends::openvino
