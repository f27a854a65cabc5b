#include "lifecycle/version_policy.h"

#include <algorithm>
#include <set>

namespace proa::lifecycle {

SelectedVersions select_versions(const config::VersionPolicy& policy,
                                 std::span<const std::int64_t> available) {
  SelectedVersions selected;
  switch (policy.kind) {
    case config::VersionPolicy::Kind::kLatest: {
      const std::size_t count = std::min<std::size_t>(policy.latest_count, available.size());
      const auto latest = available.last(count);
      selected.versions.assign(latest.begin(), latest.end());
      break;
    }
    case config::VersionPolicy::Kind::kAll:
      selected.versions.assign(available.begin(), available.end());
      break;
    case config::VersionPolicy::Kind::kSpecific:
      for (const std::int64_t version :
           std::set<std::int64_t>(policy.specific.begin(), policy.specific.end())) {
        const bool there = std::ranges::binary_search(available, version);
        (there ? selected.versions : selected.missing).push_back(version);
      }
      break;
  }
  return selected;
}

}  // namespace proa::lifecycle
