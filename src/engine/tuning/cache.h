#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/plan/implementation.h"

namespace proa::engine {

// The fastest way found to compute a step: which implementation, which of its variants (an engine
// and its knobs, an algorithm), and how long it took.
struct Choice {
  Implementation implementation = Implementation::kReference;
  std::string variant;
  float microseconds = 0;  // 0: not timed
};

// Tuning results, kept as text so that people can read, compare and edit them. One line each:
//   environment TAB step signature TAB implementation TAB variant TAB microseconds
// An environment names everything that a result depends on beside the step: GPU, library versions
// and the set of own kernels. Threading: confined to one thread.
class TuningCache {
 public:
  // Lines of implementations that this version does not know are kept as they are. Errors:
  // kInvalidArgument naming the line.
  static Result<TuningCache> parse(std::string_view text);
  // An empty cache when there is no such file. Errors: as parse(), with the path; kInvalidArgument
  // for a file that cannot be read.
  static Result<TuningCache> load_file(const std::filesystem::path& path);

  std::optional<Choice> find(const std::string& environment, const std::string& signature) const;
  void put(const std::string& environment, const std::string& signature, Choice choice);
  std::size_t size() const { return choices_.size(); }
  // Something was put since it was read or saved.
  bool changed() const { return !unsaved_.empty(); }

  std::string print() const;
  // Adds what was put to the file, and takes over what others have put there meanwhile: models that
  // are tuned at the same time, in this process or another, lose nothing of each other's. The file
  // is replaced in one step, so that a reader never sees half of it. Errors: as load_file();
  // kFailedPrecondition with the path and the reason.
  Status save_file(const std::filesystem::path& path);

 private:
  Status replace_file(const std::filesystem::path& path) const;

  using Key = std::pair<std::string, std::string>;

  std::map<Key, Choice> choices_;
  std::set<Key> unsaved_;
  std::vector<std::string> unknown_lines_;
};

}  // namespace proa::engine
