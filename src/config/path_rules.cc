#include "config/path_rules.h"

#include <algorithm>
#include <filesystem>

#include "base/log.h"

namespace proa::config {

void check_stays_inside(std::string_view path, std::string_view folder, std::string field,
                        Problems& problems) {
  const std::filesystem::path parts(path);
  if (!parts.is_absolute() && std::ranges::find(parts, std::filesystem::path("..")) == parts.end())
    return;
  problems.add(std::move(field), fmt::format("'{}' must lie inside {}: write it relative to that "
                                             "folder, without '..'",
                                             log::printable(path), folder));
}

}  // namespace proa::config
