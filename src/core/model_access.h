#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::core {

class Model;

// The models of the process, as a backend sees them whose models ask others (BLS). Whoever has the
// models implements it.
// Threading: thread-safe.
class ModelAccess {
 public:
  struct File {
    std::string path;  // below the model's folder
    std::string content;
  };
  using Done = std::move_only_function<void(Status)>;

  virtual ~ModelAccess() = default;
  // The version with that number, the latest ready one for "". Errors: kNotFound, kUnavailable.
  virtual Result<std::shared_ptr<Model>> find(std::string_view name,
                                              std::string_view version) const = 0;
  // Nothing when that version (any, for "") is ready. Errors: as find(), with the reason.
  virtual Status ready(std::string_view name, std::string_view version) const = 0;
  // Loads the model, or loads it anew: from its folder, or from `config_json` and `files` when they
  // are given. `done` is called once, on any thread. Errors: kUnavailable where models are not
  // loaded by request, and the load's own.
  virtual void load(const std::string& name, std::string config_json, std::vector<File> files,
                    Done done) = 0;
  // Begins to take the model down; `with_steps`: of an ensemble also the steps that were loaded
  // because of it alone. Errors: as load().
  virtual Status unload(const std::string& name, bool with_steps) = 0;
};

// How deep requests may lie in each other: a model asks a model, which asks a model ... The request
// of a client has depth 0.
inline constexpr int kMostRequestDepth = 16;

}  // namespace proa::core
