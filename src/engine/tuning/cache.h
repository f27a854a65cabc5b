#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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
// An environment names everything that a result depends on beside the step: GPU and library
// versions. Threading: confined to one thread.
class TuningCache {
 public:
  // Errors: kInvalidArgument naming the line.
  static Result<TuningCache> parse(std::string_view text);
  // An empty cache when there is no such file. Errors: as parse(), with the path.
  static Result<TuningCache> load_file(const std::filesystem::path& path);

  std::optional<Choice> find(const std::string& environment, const std::string& signature) const;
  void put(const std::string& environment, const std::string& signature, Choice choice);
  std::size_t size() const { return choices_.size(); }

  std::string print() const;
  // Replaces the file in one step, so that a reader never sees half of it.
  Status save_file(const std::filesystem::path& path) const;

 private:
  std::map<std::pair<std::string, std::string>, Choice> choices_;
};

}  // namespace proa::engine
