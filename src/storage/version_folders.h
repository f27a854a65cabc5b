#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::storage {

// The versions of one model: the sub-folders of its folder whose names are numbers.
struct VersionFolders {
  std::vector<std::int64_t> versions;  // ascending
  // Sub-folders that look like versions and are not, one sentence each: "1abc", "007", numbers
  // beyond 63 bits, files named like versions. Other names ("warmup", "configs") are not mentioned.
  std::vector<std::string> warnings;
};

// Errors: those of list_names().
Result<VersionFolders> list_versions(const std::filesystem::path& model_folder);

// The number that a version's folder is named after: decimal digits without sign or leading zeros,
// "0" included.
std::optional<std::int64_t> parse_version(std::string_view name);

}  // namespace proa::storage
