#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/model.h"

namespace proa::lifecycle {

// Where a version stands in its life; the words are those of the repository index.
// kUnknown: it lies in the repository, and nobody has asked for it.
enum class VersionState : std::uint8_t { kUnknown, kLoading, kReady, kUnloading, kUnavailable };

// "UNKNOWN", "LOADING", "READY", "UNLOADING", "UNAVAILABLE".
std::string_view version_state_name(VersionState state);

// One model at one moment. Holds no model in memory.
struct ModelView {
  struct Version {
    std::int64_t number = 0;
    VersionState state = VersionState::kLoading;
    std::string reason;                // see VersionStatus
    std::weak_ptr<core::Model> model;  // kReady only
  };
  std::vector<Version> versions;  // ascending
  std::ptrdiff_t latest = -1;     // index of the highest ready one
  // While no version is known.
  VersionState state = VersionState::kLoading;
  std::string reason;

  bool ready() const { return latest >= 0; }
};

// All models at one moment, by name. Threading: immutable.
class Snapshot {
 public:
  // The version with that number, the highest ready one for "". Allocates nothing when it is there.
  // Errors, in Triton's words: kNotFound for unknown models and versions, kUnavailable with the
  // reason for those that are not ready, kInvalidArgument for a version that is no number.
  Result<std::shared_ptr<core::Model>> find(std::string_view name, std::string_view version) const;

  // Null for unknown models.
  const ModelView* find_view(std::string_view name) const;

  std::size_t size() const { return views_.size(); }
  void set(const std::string& name, ModelView view) {
    views_[name] = std::make_shared<const ModelView>(std::move(view));
  }
  void erase(const std::string& name) { views_.erase(name); }

 private:
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  // Shared with the snapshots before and after, which differ in few models.
  std::unordered_map<std::string, std::shared_ptr<const ModelView>, NameHash, std::equal_to<>>
      views_;
};

}  // namespace proa::lifecycle
