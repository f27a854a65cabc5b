#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/model_config.h"

namespace proa::lifecycle {

struct SelectedVersions {
  std::vector<std::int64_t> versions;  // ascending
  std::vector<std::int64_t> missing;   // asked for by number, but not there; ascending
};

// Which of the versions that are there `policy` serves. `available` is ascending.
SelectedVersions select_versions(const config::VersionPolicy& policy,
                                 std::span<const std::int64_t> available);

}  // namespace proa::lifecycle
