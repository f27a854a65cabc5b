#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::backends::index {

// One string for each vector of an index.
// Threading: immutable.
class Payloads {
 public:
  // A text file with `count` lines of UTF-8.
  // Errors: kInvalidArgument with the path: another number of lines, a line that is not UTF-8.
  static Result<Payloads> read(const std::filesystem::path& file, std::int64_t count);

  std::string_view operator[](std::int64_t row) const {
    const auto at = static_cast<std::size_t>(row);
    return std::string_view(text_).substr(starts_[at], starts_[at + 1] - 1 - starts_[at]);
  }

 private:
  std::string text_;
  std::vector<std::size_t> starts_;  // of the lines, and one behind the last
};

}  // namespace proa::backends::index
