#include "storage/version_folders.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "storage/local_folder.h"

namespace proa::storage {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string why_no_version(std::string_view name) {
  const std::string shown = log::printable(name);
  if (!std::ranges::all_of(name, is_digit)) {
    return fmt::format("folder '{}' is ignored: the name of a version must be a whole number",
                       shown);
  }
  if (name.front() == '0') {
    return fmt::format("folder '{}' is ignored: the name of a version must not start with 0",
                       shown);
  }
  return fmt::format("folder '{}' is ignored: the number of a version is at most {}", shown,
                     INT64_MAX);
}

}  // namespace

Result<VersionFolders> list_versions(const std::filesystem::path& model_folder) {
  PROA_ASSIGN(const std::vector<std::string> names, list_names(model_folder));
  VersionFolders found;
  for (const std::string& name : names) {
    if (!is_digit(name.front())) continue;
    std::error_code failed;
    const bool is_folder = std::filesystem::is_directory(model_folder / name, failed);
    const std::optional<std::int64_t> version = parse_version(name);
    if (version && is_folder) {
      found.versions.push_back(*version);
    } else if (version) {
      found.warnings.push_back(fmt::format("'{}' is ignored: a version is a folder", name));
    } else if (is_folder) {
      found.warnings.push_back(why_no_version(name));
    }
  }
  std::ranges::sort(found.versions);
  return found;
}

std::optional<std::int64_t> parse_version(std::string_view name) {
  if (name.empty() || (name.front() == '0' && name.size() > 1)) return std::nullopt;
  if (!std::ranges::all_of(name, is_digit)) return std::nullopt;
  return parse_number<std::int64_t>(name);
}

}  // namespace proa::storage
